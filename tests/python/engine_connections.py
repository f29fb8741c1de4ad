"""What runs a statement, or several, on an engine, and gives its columns and rows."""
import json
import tempfile

from spark_cluster import Cluster


class DuckDb:
    def __enter__(self):
        import duckdb
        self.connection = duckdb.connect()
        return self

    def __exit__(self, *_):
        self.connection.close()

    def rows(self, sql):
        answer = self.connection.execute(sql)
        return [column[0] for column in answer.description], answer.fetchall()


class ClickHouse:
    def __enter__(self):
        from chdb import session
        self.session = session.Session()
        return self

    def __exit__(self, *_):
        self.session.close()

    def rows(self, sql):
        try:
            told = json.loads(self.session.query(sql, "JSONCompact").data())
        except Exception:  # chdb's answer after an error begins with what was left of that one
            self.session.close()
            self.__enter__()
            raise
        # Integers of 64 bits come as texts.
        read = [int if column["type"] in ("Int64", "UInt64", "Nullable(Int64)", "Nullable(UInt64)")
                else lambda value: value for column in told["meta"]]
        rows = [[None if value is None else kind(value) for value, kind in zip(row, read)]
                for row in told["data"]]
        return [column["name"] for column in told["meta"]], rows


def spark_session(master):
    """Its time zone is none of the tests', for times that ought not to depend on it."""
    from pyspark.sql import SparkSession
    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false", "spark.executor.memory": "1g",
                "spark.sql.session.timeZone": "Asia/Tokyo",
                # Spark 4.3 sends a union that knows its partitions to its own tasks, and cannot.
                "spark.sql.unionOutputPartitioning": "false"}
    builder = SparkSession.builder.master(master).appName("tracedb")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class Spark:
    """On a cluster of processes of its own."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tracedb-spark-")
        self.cluster = Cluster(self.folder.name).__enter__()
        self.session = spark_session(self.cluster.master)
        return self

    def __exit__(self, *_):
        self.session.stop()
        self.cluster.__exit__()
        self.folder.cleanup()

    def rows(self, sql):
        frame = self.session.sql(sql)
        return frame.columns, [tuple(row) for row in frame.collect()]


CONNECTIONS = {"duckdb": DuckDb, "clickhouse": ClickHouse, "spark": Spark}
