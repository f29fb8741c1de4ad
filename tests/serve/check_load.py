"""Many at once, fast ones and slow ones: nobody is turned away, nobody waits for others, and memory
stays."""
import threading
import time

from serve_server import BOUNDS_HOLD, Server, long_database, wait_until

REQUESTS_A_CPU_SECOND = 1000  # of the server's own, whatever else the machine does
LOAD_SECONDS = 4
LOAD_CONNECTIONS = 16
SLOW_CLIENTS = 40


def many_connections_at_once(program, database):
    with Server(program, database) as server:
        want = server.text("/overlap.csv").encode()
        clients = [server.connect() for _ in range(200)]
        request = server.request_bytes("/overlap.csv", "Connection: close")
        for client in clients:
            client.sendall(request)
        for number, client in enumerate(clients):
            got = b""
            while piece := client.recv(65536):
                got += piece
            assert got.startswith(b"HTTP/1.1 200") and got.endswith(want), (number, got[:200])
            client.close()


def beyond_the_limit_a_client_is_told_so(program, database):
    with Server(program, database, "--max-connections", "4") as server:
        clients = [server.connect() for _ in range(4)]
        for client in clients:
            client.sendall(server.request_bytes("/healthz"))
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
        for _ in range(20):
            status, headers, body = server.get("/healthz")
            assert status == 503 and headers["retry-after"] == "5" and body, status
        for client in clients:
            client.close()
        wait_until("there is room again", lambda: server.get("/healthz")[0] == 200)


def some_of(client):
    got = client.recv(65536)
    assert got, "the server closed the connection in the middle of an answer"
    return got


def one_answer(client):
    got = b""
    while b"\r\n\r\n" not in got:
        got += some_of(client)
    length = int(got.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(got) - got.index(b"\r\n\r\n") - 4 < length:
        got += some_of(client)
    return got


def is_last(answer):
    return b"\r\nconnection: close\r\n" in answer.partition(b"\r\n\r\n")[0].lower() + b"\r\n"


def ask_until(server, request, answer_bytes, end):
    """How many answers came on one connection, until the time is over or the server says that
    this was the last one here."""
    count = 0
    with server.connect() as client:
        while time.monotonic() < end:
            client.sendall(request)
            got = some_of(client)
            while len(got) < answer_bytes and not is_last(got):
                got += some_of(client)
            assert got.startswith(b"HTTP/1.1 200 OK"), got[:100]
            count += 1
            if is_last(got):
                break
    return count


def ask_again_and_again(server, request, answer_bytes, end, done):
    """Counts the answers into `done`; what is wrong with one goes there too."""
    try:
        while time.monotonic() < end:
            done.append(ask_until(server, request, answer_bytes, end))
    except Exception as error:
        done.append(error)


def one_load(server, request, answer_bytes):
    """How many requests were answered, and how many a second."""
    done = []
    begin = time.monotonic()
    threads = [threading.Thread(target=ask_again_and_again,
                                args=(server, request, answer_bytes, begin + LOAD_SECONDS, done))
               for _ in range(LOAD_CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors = [result for result in done if isinstance(result, Exception)]
    assert not errors, errors[:3]
    return sum(done), sum(done) / (time.monotonic() - begin)


def a_thousand_requests_take_less_than_a_cpu_second(program, database):
    with Server(program, database) as server:
        request = server.request_bytes("/overlap.csv")
        with server.connect() as client:
            client.sendall(request)
            answer_bytes = len(one_answer(client))
        one_load(server, request, answer_bytes)
        memory, cpu = server.memory_kib(), server.cpu_seconds()
        answered, rate = one_load(server, request, answer_bytes)
        grown = server.memory_kib() - memory
        each = (server.cpu_seconds() - cpu) / answered
        print(f"     {rate:.0f} requests/s, {1e6 * each:.0f} us of CPU each, RSS "
              f"{server.memory_kib()} KiB, {grown:+} KiB")
        assert each * REQUESTS_A_CPU_SECOND < 1 or not BOUNDS_HOLD
        assert not BOUNDS_HOLD or grown < 2048, f"{grown} KiB more"


def slow_clients_block_nobody(program, database):
    with Server(program, long_database(database)) as server:
        readers = [server.connect(receive_bytes=4096) for _ in range(SLOW_CLIENTS)]
        for client in readers:
            client.sendall(server.request_bytes("/tables/ten_million.csv?limit=1000000"))
        writers = [server.connect() for _ in range(SLOW_CLIENTS)]
        request = server.request_bytes("/healthz")
        worst, memory = 0, server.memory_kib()
        for second in range(6):
            for client in readers:
                assert client.recv(1), "a slow reader was cut off"
            for client in writers:
                client.sendall(request[second:second + 1])
            begin = time.monotonic()
            assert server.text(f"/stream_utilization.csv?rank={second}")
            assert server.get("/tables/thousand.csv")[0] == 200
            worst = max(worst, time.monotonic() - begin)
            time.sleep(max(0, 1 - (time.monotonic() - begin)))
        grown = server.memory_kib() - memory
        print(f"     beside {2 * SLOW_CLIENTS} slow ones two requests took {worst:.2f} s at most, "
              f"RSS {grown:+} KiB")
        assert worst < 60, worst  # behind a slow one it would be for ever
        for client in readers + writers:
            client.close()


def a_request_that_takes_too_long_to_come_is_given_up(program, database):
    with Server(program, database) as server:
        begin = time.monotonic()
        with server.connect() as client:
            got = b""
            try:
                while time.monotonic() - begin < 90:
                    client.sendall(b"X" if got == b"" else b"")
                    time.sleep(0.5)
            except (ConnectionResetError, BrokenPipeError):
                pass
        assert 5 < time.monotonic() - begin < 80, time.monotonic() - begin


def a_connection_ends_with_a_word_after_many_requests(program, database):
    """10,000 of them: a client on one connection is told with the last answer, and comes again."""
    with Server(program, database) as server:
        request = server.request_bytes("/healthz")
        with server.connect() as client:
            client.sendall(request)
            answer_bytes = len(one_answer(client))
        for _ in range(2):
            assert ask_until(server, request, answer_bytes, time.monotonic() + 300) == 10_000


CHECKS = [many_connections_at_once, beyond_the_limit_a_client_is_told_so,
          a_thousand_requests_take_less_than_a_cpu_second, slow_clients_block_nobody,
          a_request_that_takes_too_long_to_come_is_given_up,
          a_connection_ends_with_a_word_after_many_requests]
