"""What runs a statement, or several, on an engine, and gives its columns and rows."""
import json
import os


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
        answer = self.session.query(sql, "JSONCompact").data()
        told = json.loads(answer)
        kinds = [column["type"] for column in told["meta"]]
        rows = [[int(value) if value is not None and "Int" in kind else value
                 for value, kind in zip(row, kinds)] for row in told["data"]]
        return [column["name"] for column in told["meta"]], rows


class Spark:
    """master: of a cluster; none: threads of this process."""

    def __enter__(self):
        from pyspark.sql import SparkSession
        master = os.environ.get("TRACEDB_SPARK_MASTER", "local[2]")
        self.session = (SparkSession.builder.master(master).appName("tracedb")
                        .config("spark.sql.shuffle.partitions", "4")
                        .config("spark.driver.bindAddress", "127.0.0.1")
                        .config("spark.driver.host", "127.0.0.1")
                        .config("spark.ui.enabled", "false")
                        .config("spark.ui.showConsoleProgress", "false")
                        .config("spark.sql.session.timeZone", "Asia/Tokyo").getOrCreate())
        self.session.sparkContext.setLogLevel("OFF")
        return self

    def __exit__(self, *_):
        self.session.stop()

    def rows(self, sql):
        statements = [one for one in sql.split(";\n") if one.strip()]
        for statement in statements[:-1]:
            self.session.sql(statement)
        frame = self.session.sql(statements[-1])
        return frame.columns, [tuple(row) for row in frame.collect()]


CONNECTIONS = {"duckdb": DuckDb, "clickhouse": ClickHouse, "spark": Spark}
