"""Traces with very many rows of one kind each: for the bound on memory. Prints one.

    python3 many_rows.py KIND ROWS [FIRST]

FIRST is the number of the first row: another one makes another trace.
"""
import sys

SLICE = '{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":@,"dur":1}'
RANKS_EACH = 10_000
LONG_LIST = "[" + ", ".join(str(rank) for rank in range(RANKS_EACH - 1)) + ", 1000@]"


def slice_of(category, name, rest='"pid":1,"tid":1,"ts":@,"dur":1'):
    return '{"ph":"X","cat":"%s","name":"%s",%s}' % (category, name, rest)


def kernel(name="k", more="", pid="0", tid="7"):
    return ('{"ph":"X","cat":"kernel","name":"%s","pid":%s,"tid":%s,"ts":@,"dur":1,'
            '"args":{"correlation":@%s}}' % (name, pid, tid, more))


def within(category, name, fraction, duration=".1", args=""):
    """Of a row that is a microsecond long: from `fraction` of it on."""
    return ('{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":3,"ts":@%s,"dur":0%s,"args":{%s}}' %
            (category, name, fraction, duration, args))


def call(name="cudaLaunchKernel", tid="1"):
    return ('{"ph":"X","cat":"cuda_runtime","name":"%s","pid":1,"tid":%s,"ts":@,"dur":1,'
            '"args":{"correlation":@}}' % (name, tid))


def collective(nelems="1", group="0", ranks="[0, 1]", more=""):
    return kernel("ncclDevKernel", ',"Collective name":"allreduce","dtype":"Float",'
                  '"In msg nelems":%s,"Out msg nelems":1,"Process Group Name":"%s",'
                  '"Process Group Ranks":"%s"%s' % (nelems, group, ranks, more))


def metadata(name, args, pid="@", tid="0"):
    return '{"ph":"M","name":"%s","pid":%s,"tid":%s,"args":{%s}}' % (name, pid, tid, args)


def point(phase, category, more="", name="n"):
    return ('{"ph":"%s","cat":"%s","name":"%s","pid":1,"tid":1,"ts":@%s}' %
            (phase, category, name, more))


# What is written for each row; @ is its number. Where a kind has several events, one of each.
KINDS = {
    "slices": [SLICE],
    "names": [slice_of("cpu_op", "aten::operator number @")],
    "long_names": [slice_of("cpu_op", "o" * 200 + "@")],
    "categories": [slice_of("category number @", "n")],
    "args": [slice_of("cpu_op", "op", '"pid":1,"tid":1,"ts":@,"dur":1,"args":{"Input Dims":"@"}')],
    "operators": [slice_of("cpu_op", "op", '"pid":1,"tid":1,"ts":@,"dur":1,'
                           '"args":{"External id":@,"Sequence number":@}')],
    "nested_operators": ['{"ph":"X","cat":"cpu_op","name":"op @","pid":1,"tid":1,"ts":@,"dur":2000,'
                         '"args":{"External id":@}}'],
    "open_operators": ['{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":@,"ts":@,'
                       '"dur":99999999}'],
    # In each microsecond a graph of one kernel is captured and replayed.
    "graphs": [within("cuda_runtime", "cudaStreamBeginCapture", ".1", args='"correlation":6@'),
               within("cpu_op", "aten::op @", ".2", ".3"),
               within("cuda_runtime", "cudaLaunchKernel", ".3", args='"correlation":8@'),
               within("cuda_runtime", "cudaStreamEndCapture", ".6", args='"correlation":7@'),
               within("cuda_runtime", "cudaGraphLaunch", ".7", args='"correlation":9@'),
               kernel().replace('"correlation":@', '"correlation":9@')],
    "kernels": [kernel()],
    "kernel_names": [kernel("a kernel with the number @")],
    "grids": [kernel(more=',"grid":[@,1,1],"block":[@,1,1],"registers per thread":@')],
    "launched_kernels": [call(), kernel()],
    "kernels_of_operators": [slice_of("cpu_op", "op @"), call(), kernel("k @")],
    "runtime_calls": [call()],
    "runtime_call_names": [call("cudaCall number @")],
    "copies": ['{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":@,"dur":1,'
               '"args":{"correlation":@,"bytes":@}}'],
    "instants": [point("i", "c", ',"s":"t"')],
    "instant_names": [point("i", "c", ',"s":"t"', "instant @")],
    "counters": [point("C", "c", ',"args":{"bytes":@}')],
    "counter_names": [point("C", "c", ',"args":{"series @":@}', "counter @")],
    "flows": [point("s", "ac2g", ',"id":@'), point("f", "ac2g", ',"id":@,"bp":"e"')],
    "async_events": [point("b", "c", ',"id":"0x@"'), point("e", "c", ',"id":"0x@"')],
    "async_begins": [point("b", "c", ',"id":"0x@"')],
    "begins": ['{"ph":"B","cat":"c","name":"n @","pid":1,"tid":@,"ts":@,"args":{"a":"@"}}'],
    "ends": ['{"ph":"E","pid":1,"tid":@,"ts":@}'],
    "objects": [point("N", "c", ',"id":"@"'), point("D", "c", ',"id":"@"')],
    "process_names": [metadata("process_name", '"name":"process number @"')],
    "process_labels": [metadata("process_labels", '"labels":"label number @"')],
    "process_sort_indexes": [metadata("process_sort_index", '"sort_index":@')],
    "thread_names": [metadata("thread_name", '"name":"thread number @"', "1", "@")],
    "thread_sort_indexes": [metadata("thread_sort_index", '"sort_index":@', "1", "@")],
    "names_of_one_process": [metadata("process_name", '"name":"process number @"', "1")],
    "all_metadata": [metadata("process_name", '"name":"process number @"'),
                     metadata("process_labels", '"labels":"label number @"'),
                     metadata("process_sort_index", '"sort_index":@'),
                     metadata("thread_name", '"name":"thread number @"', "@", "@"),
                     metadata("thread_sort_index", '"sort_index":@', "@", "@")],
    "threads": [slice_of("cpu_op", "op", '"pid":1,"tid":"thread number @","ts":@,"dur":1')],
    "processes": [slice_of("cpu_op", "op", '"pid":"process number @","tid":1,"ts":@,"dur":1')],
    "devices": [kernel(more=',"device":@,"stream":7', pid="@")],
    "device_names": [kernel(pid='"device number @"', tid='"stream number @"')],
    "streams": [kernel(more=',"device":0,"stream":@', tid="@")],
    "steps": [slice_of("user_annotation", "ProfilerStep#@")],
    "steps_with_kernels": [slice_of("user_annotation", "ProfilerStep#@"), kernel()],
    "steps_with_operators": [slice_of("user_annotation", "ProfilerStep#@"),
                             slice_of("cpu_op", "op"), call("cudaDeviceSynchronize"), kernel()],
    "long_steps": [slice_of("user_annotation", "ProfilerStep#@", '"pid":1,"tid":1,"ts":@,'
                            '"dur":99999999'), kernel()],
    "impossible_times": [slice_of("cpu_op", "op", '"pid":1,"tid":1,"ts":@,"dur":10000000000000')],
    "annotations": [slice_of("user_annotation", "annotation @")],
    "gpu_annotations": [slice_of("gpu_user_annotation", "annotation @", '"pid":0,"tid":7,"ts":@,'
                                 '"dur":1')],
    "collectives": [collective()],
    "collective_sizes": [collective(nelems="@")],
    "collective_groups": [collective(group="group @", ranks="[0, @]")],
    "collective_ranks": [collective(ranks="[0, @]")],
    "collective_pairs": [kernel("ncclSendRecv", ',"Collective name":"send","dtype":"Float",'
                                '"In msg nelems":1,"Out msg nelems":1,"Process Group Name":"0",'
                                '"Process Group Ranks":"[0, 1, 2]","Dst Rank":@')],
    "collective_seqs": [collective(more=',"Seq":@')],
    "coalesced_collectives": ['{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,'
                              '"tid":1,"ts":@,"dur":1,"args":{"External id":@,"Seq":@,'
                              '"Collective name":"allreduce","dtype":"Float","In msg nelems":1,'
                              '"Process Group Name":"0","Process Group Ranks":"[0, 1]"}}',
                              kernel("ncclDevKernel", ',"External id":@')],
    "large_groups": [collective(group="group @", ranks=LONG_LIST)],
    "large_groups_of_one_name": [collective(ranks=LONG_LIST)],
    "large_group_descriptions": [collective(group="g", more=',"Process Group Description":"' +
                                            "d" * 9000 + '@"')],
    "memory_events": [point("i", "cpu_instant_event", ',"s":"t","args":{"Total Reserved":@,'
                            '"Total Allocated":@,"Bytes":@,"Addr":@,"Device Type":1,"Device Id":0}',
                            "[memory]")],
    "python_functions": [slice_of("python_function", "file_@.py(@): function_@",
                                  '"pid":1,"tid":1,"ts":@,"dur":1,"args":{"Python id":@,'
                                  '"Python parent id":@,"Python module id":@}')],
    "modules": [slice_of("python_function", "nn.Module: Module_@")],
    "sync_events": [slice_of("cuda_sync", "Stream Sync", '"pid":0,"tid":7,"ts":@,"dur":1,'
                             '"args":{"correlation":@,"wait_on_stream":@}')],
    "sync_calls": [call("cudaDeviceSynchronize", "@"), kernel()],
    "backward": [slice_of("cpu_op", "op @", '"pid":1,"tid":1,"ts":@,"dur":1,"args":'
                          '{"External id":@,"Sequence number":@,"Fwd thread id":0}'),
                 slice_of("cpu_op", "Backward @", '"pid":1,"tid":2,"ts":@,"dur":1,"args":'
                          '{"External id":9@,"Sequence number":@,"Fwd thread id":@}')],
    "broken_json": ['{"ph":"X","name":"n" "pid":@}'],
    "broken_times": ['{"ph":"X","name":"n @","pid":1,"tid":1,"ts":"never @","dur":1}'],
    "broken_without_times": ['{"ph":"X","name":"n @","pid":1,"tid":1}'],
    "broken_durations": ['{"ph":"X","name":"n @","pid":1,"tid":1,"ts":@,"dur":-@}'],
    "broken_phases": ['{"ph":"?@","name":"n","pid":1,"tid":1,"ts":@}'],
    "broken_texts": ['{"ph":"X","name":"n\\ud800@","pid":1,"tid":1,"ts":@,"dur":1,'
                     '"args":{"a":NaN}}'],
    "broken_quotes": ['{"ph":"X","name":"n"@"m","pid":1,"tid":1,"ts":@,"dur":1}'],
    "broken_no_events": ['"@"', "@", "null", "[]"],
    "broken_ids": ['{"ph":"X","name":"n","pid":{"a":@},"tid":[@],"ts":@,"dur":1}'],
    "broken_braces": ['{"ph":"X","name":"n","pid":1,"tid":1,"ts":@,"dur":1}}'],
}
# Of which a row takes 50 KB or 9 KB.
LARGE = {"large_groups": 400, "large_groups_of_one_name": 400, "large_group_descriptions": 100}


def header_of(kind, rows, first):
    """Before the events."""
    numbers = range(first, first + rows)
    if kind == "header_groups":
        groups = ",".join('{"pg_name":"%d","pg_desc":"d","pg_size":2,"ranks":[0,%d]}' % (i, i)
                          for i in numbers)
        return '"distributedInfo":{"rank":0,"pg_config":[%s]},' % groups
    if kind == "header_keys":
        return "".join('"key %d":%d,' % (i, i) for i in numbers)
    return ""


HEADER_KINDS = ["header_groups", "header_keys"]


def kinds():
    """All of them, and `everything`, which is all in one trace."""
    return [*KINDS, *HEADER_KINDS, "everything"]


def rows_of(kind, rows):
    """How many rows are a large trace of this kind, where a million are of others."""
    return max(1, rows // LARGE.get(kind, 1))


def write(out, kind, rows, first=0, header=""):
    """`header`: members of the JSON object before the others, each with a comma after it."""
    out.write('{%s%s"traceEvents":[\n' % (header, header_of(kind, rows, first)))
    for one in KINDS if kind == "everything" else [kind]:
        write_events(out, one, rows if kind == one else rows_of(one, rows), first)
    out.write('{"ph":"i","s":"t","cat":"c","name":"end","pid":1,"tid":1,"ts":%d}]}\n' %
              (first + rows))


def write_late_threads(out, rank, threads):
    """Two ranks, late in turn by a millisecond of long work, each time on another thread."""
    out.write('{"distributedInfo":{"rank":%d,"world_size":2},"traceEvents":[\n' % rank)
    event = '{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}'
    more = ('"Collective name":"allreduce","In msg nelems":1,"Out msg nelems":1,"dtype":"Float",'
            '"Process Group Name":"0","Process Group Ranks":"[0, 1]","correlation":')
    for i in range(threads):
        at, late, tid = 3000 * i, 1000 * (i + rank & 1), i + 1
        out.write(",\n".join([
            event % ("cpu_op", "work", tid, at, late + 300, ""),
            event % ("cuda_runtime", "cudaLaunchKernel", tid, at + late, 2, f'"correlation":{tid}'),
            event % ("kernel", "ncclDevKernel", 0, at + late + 10, 1200 - late, f"{more}{tid}")]))
        out.write(",\n" if tid < threads else "]}\n")


def write_events(out, kind, rows, first):
    templates = [event.split("@") for event in KINDS.get(kind, [])]
    for begin in range(first, first + rows, 1000):
        numbers = [str(i) for i in range(begin, min(begin + 1000, first + rows))]
        out.write("".join(number.join(parts) + ",\n" for number in numbers for parts in templates))


if __name__ == "__main__":
    write(sys.stdout, sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
