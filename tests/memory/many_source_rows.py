#!/usr/bin/env python3
"""Files beside traces with very many rows of one kind each: for the bound on memory. Prints one.

    python3 many_source_rows.py KIND ROWS [FIRST]

FIRST is the number of the first row: another one makes another file.
"""
import sys

STAMP = "2026/11/22 13:48:11.412"
NCU_NAMES = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context",'
             '"Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name",'
             '"Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description",'
             '"Estimated Speedup Type","Estimated Speedup"\n')
INSPECTOR = ('{"header":{"id":"0x%s","rank":0,"n_ranks":8,"nnodes":1},"metadata":'
             '{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"p",'
             '"dump_timestamp_us":1752867229235000,"hostname":"%s","pid":%s},%s}\n')
COLLECTIVE = ('"coll_perf":{"coll":"%s","coll_sn":@,"coll_msg_size_bytes":@,'
              '"coll_exec_time_us":5,"coll_timing_source":"%s","coll_algobw_gbs":0.008,'
              '"coll_busbw_gbs":0.012}')
DUMP = '"dump_stats":{"coll_records":4,"coll_dropped_total":5,"coll_dropped_since_last_dump":5}'


def ncu(kernel="k", pid="7", metric="Duration", rule="", name="app"):
    return (f'"@","{pid}","{name}","node","{kernel}","2024-Jan-01 10:00:00","1","7","(32,1,1)",'
            f'"(2,1,1)","0","8.0","Section","{metric}","us","@",{rule or ",,,,"}\n')


def log(*lines):
    return ("log.txt", " iteration 1/ 9 | elapsed time per iteration (ms): 1.5 | lm loss: 1.0 |\n",
            "".join(line + "\n" for line in lines), "")


def query(row, header="timestamp, index, utilization.gpu [%], memory.used [MiB]\n"):
    return ("nvidia-smi.csv", header, row, "")


# The name of the file, its beginning, what is written for each row (@ is its number), its end.
KINDS = {
    "log_iterations": log(" iteration @/ 9 | elapsed time per iteration (ms): 1.5 | lm loss: 1 |"),
    "log_fields": log(" iteration @/ 9 | elapsed time per iteration (ms): 1.5 | field @: 1.0 |"),
    "log_long_fields": log(" iteration @/ 9 | elapsed time per iteration (ms): 1.5 |"
                           + "".join(f" field {i} of @: 1 |" for i in range(100))),
    "log_evaluations": log(" validation loss at iteration @ | lm loss value: 6.1 | "
                           "lm loss PPL: 4 | "),
    "log_timers": log("(min, max) time across ranks (ms):",
                      "    forward-backward ....................: (210.40, 221.30)"),
    "log_timer_names": log("time (ms) | timer-@: 3170.80 | other-@: 1415.31"),
    "log_timers_of_a_block": ("log.txt", " iteration 1/ 9 | lm loss: 1.0 |\n"
                              "(min, max) time across ranks (ms):\n",
                              "    timer-@ ..............: (210.40, 221.30)\n", ""),
    "log_timer_slices": log("times across ranks (ms):",
                            "  forward-compute-@:", "     rank  0: 3.45",
                            " forward-compute-@ start time lst:  1686729000.1 1686729000.4",
                            " forward-compute-@ end time lst:  1686729000.3 1686729000.75"),
    "log_memory": log("[Rank @] (after 2 iterations) memory (MB) | allocated: 5500.9 | max "
                      "allocated: 7316.1 | reserved: 10214.0 | max reserved: 10214.0"),
    "log_arguments": log("------------------------ arguments ------------------------",
                         "  argument_@ ...................................... @",
                         "-------------------- end of arguments ---------------------"),
    "log_events": log("[after event @ is done] datetime: 2024-03-14 23:07:56 "),
    "log_stragglers": log("0: INFO:megatron.core.utils:[2024-03-14 23:07:56] | MnRtt/Rnk: "
                          "3453.08ms/@ | MxRtt/Rnk: 3468.20ms/@"),
    "log_messages": log("Number@Error: something is wrong with @"),
    "log_half_lines": log(" iteration @/ 9 | elapsed time per iteration (ms): 1."),
    "log_ranks": log("[default@]: iteration @/ 9 | elapsed time per iteration (ms): 1.5 | "
                     "loss: 1 |"),
    "settings": ("run.sbatch", "#!/bin/bash\n#SBATCH --nodes=8\n", "export VARIABLE_@=@\n", ""),
    "settings_of_settings": ("run.sbatch", "#!/bin/bash\n#SBATCH --nodes=8\nV=x\n", "V=$V@\n", ""),
    "sbatch_options": ("run.sbatch", "#!/bin/bash\n", "#SBATCH --option@=@\n", ""),
    "gpu_samples": query(f"{STAMP}, 0, @ %, 30994 MiB\n"),
    "gpus": query(f"{STAMP}, @, 99 %, 30994 MiB\n"),
    "gpu_sample_names": query("timestamp, index, utilization.gpu [%], column @ [%]\n"
                              f"{STAMP}, 0, 99 %, 98 %\n"),
    "gpu_sample_texts": query(f"{STAMP}, 0, 5 %, P@, text @\n",
                              "timestamp, index, utilization.gpu [%], pstate, name\n"),
    "dmon_names": ("dmon.txt", "", "#Date Time gpu pwr sm c@\n#YYYYMMDD HH:MM:SS Idx W % C\n"
                   "20261122 23:59:59 0 165 18 1\n", ""),
    "gpustat_gpus": ("gpustat.txt", "node030  Sun Nov 22 00:49:49 2026  535.54.03\n",
                     "[@] NVIDIA A10       | 49'C,   0 % |    12 / 22731 MB | root:p/@(1M)\n", ""),
    "nvidia_smi_table": ("smi.txt", "| NVIDIA-SMI 580.1 Driver Version: 580.1 |\n",
                         "Mon Nov 23 07:41:42 2026\n| NVIDIA-SMI 580.1 Driver Version: @ |\n"
                         "| @ NVIDIA H200 On | 00000000:00:06.0 Off | @ |\n"
                         "| N/A 46C P0 73W / 700W | 0MiB / 81559MiB | 0% Default |\n"
                         "| Processes: |\n| @ N/A N/A @ C python 1MiB |\n", ""),
    "ncu_kernels": ("ncu.csv", NCU_NAMES, ncu(), ""),
    "ncu_kernel_names": ("ncu.csv", NCU_NAMES, ncu(kernel="kernel @"), ""),
    "ncu_processes": ("ncu.csv", NCU_NAMES, ncu(pid="@", name="app @"), ""),
    "ncu_metrics": ("ncu.csv", NCU_NAMES, ncu(metric="metric @"), ""),
    "ncu_rules": ("ncu.csv", NCU_NAMES, ncu(rule='"Rule@","OPT","text @","global","3"'), ""),
    "ncu_descriptions": ("metrics.txt", "Device NVIDIA A100 (GA100)\n" + "-" * 60 + "\nMetric Name"
                         + " " * 30 + "Metric Type     Metric Unit     Metric Description\n"
                         + "-" * 60 + "\n",
                         "sm__metric_@                             Counter         "
                         "cycle           # of things @\n", ""),
    "inspector_collectives": ("pid1.log", "", INSPECTOR % (
        "1", "a", "40", COLLECTIVE % ("AllReduce", "kernel_gpu")), ""),
    "inspector_communicators": ("pid1.log", "", INSPECTOR % (
        "@", "host @", "@", COLLECTIVE % ("AllReduce", "kernel_gpu")), ""),
    "inspector_operations": ("pid1.log", "", INSPECTOR % (
        "1", "a", "40", COLLECTIVE % ("All@", "source @")), ""),
    "inspector_dumps": ("pid1.log", "", INSPECTOR % ("1", "a", "40", DUMP), ""),
    "memory_timeline": ("timeline_rank2.raw.json", "[[-1, 1, 10, 0]",
                        ", [1790857026000001500, 2, @, 3]", "]"),
    "memory_snapshot": (
        "snapshot_rank9.json", '{"segments": [', '{"device": 0, "address": @, "total_size": 4096, '
        '"stream": 0, "segment_type": "small", "blocks": [{"size": 1024, "address": @, "state": '
        '"inactive", "frames": [{"name": "f@", "filename": "a.py", "line": @}]}]},',
        '{"device": 0, "address": 1, "total_size": 1, "stream": 0, "blocks": []}], '
        '"device_traces": [[{"action": "alloc", "addr": 1, "size": 1, "stream": 0, "time_us": 5, '
        '"frames": []}]], "allocator_settings": {"expandable_segments": false}}'),
    "flight_recorder": (
        "nccl_trace_rank_6.json", '{"version": "2.9", "pg_config": {"0": {"name": "0", "desc": '
        '"default_pg", "ranks": "[0, 1]"}}, "entries": [',
        '{"record_id": @, "process_group": ["@", "group @"], "collective_seq_id": @, '
        '"profiling_name": "nccl:all_reduce", "time_created_ns": 1790857026000000000, "state": '
        '"started", "input_sizes": [[@]], "output_sizes": [[@]], "frames": [{"name": "f@", '
        '"filename": "a.py", "line": @}]},',
        '{"record_id": 1, "profiling_name": "nccl:all_reduce", "state": "completed", '
        '"input_sizes": [[1]], "output_sizes": [[1]], "time_created_ns": 1790857026000000000}]}'),
}


def file_name(kind):
    return KINDS[kind][0]


def write(out, kind, rows, first=0):
    _, opening, row, closing = KINDS[kind]
    parts = row.split("@")
    out.write(opening)
    for begin in range(first, first + rows, 1000):
        numbers = [str(i) for i in range(begin, min(begin + 1000, first + rows))]
        out.write("".join(number.join(parts) for number in numbers))
    out.write(closing)


if __name__ == "__main__":
    write(sys.stdout, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
