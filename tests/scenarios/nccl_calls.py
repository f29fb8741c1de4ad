"""How a collective stands in a trace: operator, kernel, and the args that PyTorch writes."""

# Collective name -> operator above it, annotation, kernel.
COLLECTIVES = {
    "allreduce": ("c10d::allreduce_", "nccl:all_reduce",
                  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    "barrier": ("c10d::barrier", "nccl:all_reduce_barrier",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    "_allgather_base": ("c10d::_allgather_base_", "nccl:_all_gather_base",
                        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    "_reduce_scatter_base": ("c10d::_reduce_scatter_base_", "nccl:_reduce_scatter_base",
                             "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"
                             "(ncclDevKernelArgsStorage<4096ul>)"),
    "all_to_allv": ("c10d::alltoall_base_", "nccl:all_to_all",
                    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
    "send": ("c10d::send", "nccl:send",
             "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
    "recv": ("c10d::recv_", "nccl:recv",
             "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
}
DTYPE_BYTES = {"BFloat16": 2, "Float": 4, "Byte": 1}


def message_sizes(more):
    """Elements in and out of a rank's part."""
    size = more.get("nelems", 1 << 20)
    return more.get("in_nelems", size), more.get("out_nelems", size)


def in_bytes(more):
    return message_sizes(more)[0] * DTYPE_BYTES[more.get("dtype", "BFloat16")]


def collective_args(job, collective, group, rank, more):
    """What PyTorch writes at the operator and copies to the kernel."""
    nelems_in, nelems_out = message_sizes(more)
    args = {"Collective name": collective, "In msg nelems": nelems_in,
            "Out msg nelems": nelems_out, "Group size": len(group.ranks),
            "dtype": more.get("dtype", "BFloat16"),
            "In split size": str(list(more.get("in_split", []))),
            "Out split size": str(list(more.get("out_split", [])))}
    if job.with_names:
        args["Process Group Name"] = group.name
        args["Process Group Description"] = group.description
    args["Process Group Ranks"] = str(list(group.ranks))
    args["Rank"] = group.ranks.index(rank)
    if collective == "send":
        args["Dst Rank"] = more["peer"]
    elif collective == "recv":
        args["Src Rank"] = more["peer"]
    return args
