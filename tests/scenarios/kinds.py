"""Scenarios of what a GPU activity is, and of jobs whose GPU was not recorded."""
import cause_checks
import checks
from checks import Scenario
from runs_and_captures import data_parallel_job, train
from trace_maker import Job

COMMUNICATION = [
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "rcclGenericKernel<1, false>",
    "msccl::execution_kernel", "void nvshmemi_transfer_rma<int>(int)",
    "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)",
    "void dpsk::ep::internode::combine<(unsigned char)8>(void*, float*)",
    "void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(vllm::RankData*)",
    "multimem_all_reduce_kernel<float>", "one_shot_all_reduce_kernel<float>",
    "two_shot_all_reduce_kernel<float>",
    "userbuffers_fp16_sum_inplace_gpu_rw<8>", "kuserbuffers_pushsend",
    "void transformer_engine::userbuffers_fp16_sum_inplace_gpu_mc_rs_oop<4>(int)",
    "oneccl_allreduce_small", "oneCCL::reduce_scatter_kernel", "hcclAllReduce", "HcclAllGather",
    "hcom_allReduce_", "hcom_broadcast__123_0", "xcclAllReduce", "XCCL_broadcast",
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>(int)",
    "void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_twoshot_sync<8>(int)",
    "void tensorrt_llm::kernels::twoShotAllReduceKernel<half, 8>(int)",
    "quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot>"]
MEMORY = ["__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer.kd", "__amd_rocclr_fillBufferAligned",
          "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE", "dma_request"]
COMPUTE = [
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "Cijk_Ailk_Bljk_HHS_BH_MT64x64",
    "triton_poi_fused_add_mul_0", "SubTensorOpWithScalar1d", "_matmul_ogs_NNT_bf16xbf16_64x128",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(int)",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)",
    "void cunn_SoftMaxForward<8, float>(float*)", "memory_efficient_attention_kernel",
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<float>(int)"]
WAITING = ["event_wait"]


def kernel_kinds():
    """One kernel of each name, one after the other, so that each kind's time is known."""
    name = "kernel_kinds"
    expected = {}
    for kind, names in (("communication", COMMUNICATION), ("memory", MEMORY),
                        ("compute", COMPUTE), ("waiting", WAITING)):
        expected.update(dict.fromkeys(names, kind))
    job = Job(name, 1)
    host = job.capture(0).host(0)
    mtia = {"event_wait", "dma_request"}
    with host.step(1):
        for at, (kernel, kind) in enumerate(expected.items()):
            category = "mtia_ccp_events" if kernel in mtia else "kernel"
            host.kernel(kernel, 10 + at, kind=kind, category=category)
        # Names do not make these: their categories do.
        host.copy(7, "HtoD (Pinned -> Device)", 4096)
        host.kernel("Memset (Device)", 3, category="gpu_memset", kind="memory",
                    args={"bytes": 64})
        # What waits is no work: the time until here counts as idle, but for the kernels.
        host.kernel(COMPUTE[0], 25)
        host.sync()
    job.captures[0].simulate()
    jobs = [job]
    expected.update({"Memcpy HtoD (Pinned -> Device)": "memory", "Memset (Device)": "memory"})
    return Scenario(name, "Kernels of many libraries, by name", jobs, expected,
                    [checks.kinds(jobs, expected), checks.overlap(jobs),
                     checks.stream_utilization(jobs)])


def no_gpu_activity():
    """Recorded without ProfilerActivity.CUDA: the header names a GPU, no kernel is there."""
    name = "no_gpu_activity"
    job = data_parallel_job(name, gpu_recorded=False)
    train(job.capture(0), (3, 4), late_us=(0, 70))
    jobs = [job]
    told = {"GPU activities": 0, "doctor": "kernels were expected and are absent",
            "steps": "as recorded on the host"}
    return Scenario(name, "A GPU job that was recorded without GPU activity", jobs, told,
                    [checks.runs(jobs), checks.captures(jobs), checks.steps(jobs),
                     nothing_of_the_gpu(), cause_checks.doctor(True, "kernel|GPU")])


def nothing_of_the_gpu():
    def compare(program):
        for query in ("overlap", "stream_utilization", "nccl_stalls", "critical_path"):
            rows = program.rows(query)
            if query != "critical_path" and rows:
                yield f"{query}: {len(rows)} rows, but no GPU activity was recorded"
            if any((row.get("kind") or "") in ("compute", "communication") for row in rows):
                yield f"{query}: rows of GPU work that was not recorded"
    return checks.Check("nothing_of_the_gpu", "Per rank and device: from its GPU activities; "
                        "without them there is no row, and the query succeeds", compare)


def scenarios():
    return [kernel_kinds(), no_gpu_activity()]
