-- The GPUs.
SELECT id, name, totalMemory, smCount, threadsPerWarp, maxWarpsPerSm, computeMajor, computeMinor
FROM TARGET_INFO_GPU ORDER BY id;
