"""Traces in which names, ids, args and phases are what nobody would write, as JSON text."""
import json

NAMES = ["", "plain", 'quo"te', "back\\slash", "new\nline", "tab\t", "\u0001\u0002\u0018", "日本語",
         "🙂", "\u202eright to left", "<script>", "'; DROP TABLE _trace; --", "a" * 5000, "\u007f",
         "ProfilerStep#1", "ProfilerStep#x", "ProfilerStep#-1", "void f<int, (char)34>(\"x\")"]
CATEGORIES = [None, "", "cpu_op", "kernel", "Kernel", "gpu_memcpy", "cuda_runtime", "cuda_driver",
              "python_function", "cuda_sync", "gpu_user_annotation", 'ca"t', "ac2g", "日本"]
IDS = [0, 1, -1, 7, 2**31, 2**53 + 1, 1000007, "Spans", "0x0", "1", "01", "-0", "", "1.5", 'p"d',
       None]
TIMES = ["0", "0.001", "1.5", "-3.25", "12345678.901", "1e3", "1790857026000.123", '"7.5"']
ARGS = ["{}", '{"External id":5,"correlation":7}', '{"External id":5,"External id":6}',
        '{"a":NaN,"b":Infinity}', '{"x":1e400,"y":-0,"z":0.1000000000000000055}',
        '{"big":18446744073709551616,"Addr":18446744073709551615}', '{"s":"\\u0001\\ud83d\\ude00"}',
        '{"deep":[[[{"a":{"b":[]}}]]]}', '{"1000":1000,"1001":1001,"k":2000,"l":3000,"m":4000,'
        '"n":5000,"o":6000,"p":7000,"q":8000}', '{"stream":7,"device":1}', '{"stream":"0x0"}',
        '{"Collective name":"all\\"reduce","In msg nelems":5,"Process Group Ranks":"[0, 1]"}',
        '[1,2]', '"text"', "5", "null", '{"":""}', '{"p":"0xdeadbeef","q":"0xcafe"}',
        '{"Bytes":-5,"Total Allocated":9223372036854775807}', '{"est. achieved occupancy %":33.5}']
OTHERS = ['"id":5', '"id":"0x1f"', '"id":"text"', '"id":18446744073709551615',
          '"id2":{"local":"7"}', '"id":5,"id2":"6"', '"id":5,"scope":"s"', '"bp":"e"', '"s":"t"',
          '"cname":"bad"', '"tts":123456', '"id":1.5', '"stack":[1,{"a":2}]', '"sf":1000.25', '']
PHASES = "XXXXXXXXBEbensfCiIRPNODMSTFcVv?"


def event(random):
    phase = random.choice(PHASES)
    parts = [f'"ph":"{phase}"' if phase != "?" else '"ph":"xyz"']
    parts.append(f'"name":{json.dumps(random.choice(NAMES))}')
    category = random.choice(CATEGORIES)
    if category is not None:
        parts.append(f'"cat":{json.dumps(category)}')
    for key in ("pid", "tid"):
        value = random.choice(IDS)
        if value is not None:
            parts.append(f'"{key}":{json.dumps(value)}')
    if phase != "M" or random.random() < 0.5:
        parts.append(f'"ts":{random.choice(TIMES)}')
    if phase == "X" and random.random() < 0.95:
        parts.append(f'"dur":{random.choice(TIMES)}')
    if random.random() < 0.8:
        parts.append(f'"args":{random.choice(ARGS)}')
    other = random.choice(OTHERS) if random.random() < 0.6 else ""
    if other:
        parts.append(other)
    random.shuffle(parts)
    return "{" + ",".join(parts) + "}"


def pair(random, phases):
    """A begin and an end of one thread or id, with something between them."""
    thread = f'"pid":{random.randint(1, 3)},"tid":{random.randint(1, 3)}'
    category = random.choice(CATEGORIES[2:])
    kind = f'"name":{json.dumps(random.choice(NAMES))},"cat":{json.dumps(category)}'
    other = f',"id":"{random.randint(0, 3)}"' if phases != "BE" else ""
    made = []
    for phase in phases:
        args = f',"args":{random.choice(ARGS)}' if random.random() < 0.4 else ""
        made.append(f'{{"ph":"{phase}",{thread},{kind}{other},"ts":{random.choice(TIMES)}{args}}}')
    return [made[0], event(random), made[1]]


def text(events, header):
    parts = [f"{json.dumps(key)}:{value}" for key, value in header]
    events_text = '"traceEvents":[\n' + ",\n".join(events) + "\n]"
    return "{" + ",".join([*parts, events_text]) + "}"


def traces(random):
    headers = [[], [("baseTimeNanoseconds", "1790857026000000000"), ("schemaVersion", "1")],
               [("a\"b", '"\\u0007"'), ("distributedInfo", '{"rank":3,"world_size":8}'),
                ("nested", '{"x":[1,2,{"y":null}]}'), ("float", "1.50")]]
    for number in range(30):
        events = []
        for _ in range(random.randint(0, 40)):
            events += [event(random)] if random.random() < 0.7 else \
                pair(random, random.choice(["BE", "be", "SF"]))
        yield f"hostile{number}", events, headers[number % len(headers)]
