-- title: How fast the links between a host's GPUs are
--
-- What one GPU sends to others of its host at most, in one direction and over all of its links, by
-- its vendor's data sheet: half of the bandwidth that sheets give for both directions. A bus
-- bandwidth (as in nccl-tests) of one host's GPUs is compared with that; between hosts the network
-- is slower. GPUs that are not in the list, and cards whose links depend on the board (PCIe), have
-- no row.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run   text        The run: one training job that was recorded.
-- column: gpu   text        The GPU's name, as the trace has it.
-- column: link  text        What joins such GPUs.
-- column: gbps  real(gbps)  In one direction, in 1e9 bytes a second.
--
-- empty:  The GPUs of this job are none whose links are known.

-- Sources: NVIDIA's data sheets of V100 (NVLink 300 GB/s), A100 (600), A800 and H800 (400), H100,
-- H200 and H20 SXM (900), H100 NVL (600), H200 NVL (900), GH200 (900), HGX B200 and GB200 (1,800);
-- AMD's of MI300X and MI325X (7 Infinity Fabric links of 128 GB/s), MI350X and MI355X (7 of 153.6).
WITH sheet(pattern, link, gbps) AS (
  VALUES ('*V100-SXM*', 'NVLink 2', 150.0), ('*A100-SXM*', 'NVLink 3', 300.0),
         ('*A800-SXM*', 'NVLink 3', 200.0), ('*H100 80GB HBM3*', 'NVLink 4', 450.0),
         ('*H100 SXM*', 'NVLink 4', 450.0), ('*H100 NVL*', 'NVLink 4', 300.0),
         ('*H800*', 'NVLink 4', 200.0), ('*H800 PCIE*', NULL, NULL),
         ('*NVIDIA H20', 'NVLink 4', 450.0), ('*H200*', 'NVLink 4', 450.0),
         ('*GH200*', 'NVLink 4', 450.0), ('*B200*', 'NVLink 5', 900.0),
         ('*MI300X*', 'Infinity Fabric', 448.0), ('*MI325X*', 'Infinity Fabric', 448.0),
         ('*MI350X*', 'Infinity Fabric', 537.6), ('*MI355X*', 'Infinity Fabric', 537.6)
),
named AS MATERIALIZED (
  SELECT DISTINCT run_id, run, gpu_name FROM traces
  WHERE gpu_name IS NOT NULL AND (:run IS NULL OR run = :run)
),
fitted AS (
  SELECT n.*, s.link, s.gbps,
         row_number() OVER (PARTITION BY n.run_id, n.gpu_name
                            ORDER BY length(s.pattern) DESC, s.pattern) AS choice
  FROM named n JOIN sheet s ON upper(n.gpu_name) GLOB s.pattern
)
SELECT run, gpu_name AS gpu, link, gbps
FROM fitted WHERE choice = 1 AND gbps IS NOT NULL
ORDER BY run_id, gpu_name;
