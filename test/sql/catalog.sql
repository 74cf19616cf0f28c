-- The parts of the extension, and how each is declared.
SELECT p.oid::regprocedure AS function, p.provolatile AS volatile, p.proisstrict AS strict, p.proparallel AS parallel,
       p.proleakproof AS leakproof, l.lanname AS language
FROM pg_depend AS d JOIN pg_proc AS p ON d.objid = p.oid JOIN pg_language AS l ON p.prolang = l.oid
WHERE d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb')
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- The functions with a support function, and the sets with the number of rows that the planner expects.
SELECT p.oid::regprocedure AS function, p.prosupport AS support, p.prorows AS rows
FROM pg_depend AS d JOIN pg_proc AS p ON d.objid = p.oid
WHERE d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb') AND (p.prosupport <> 0 OR p.proretset)
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Every part has a comment, except array types. PostgreSQL creates these by itself, and PostgreSQL 17 counts them as
-- parts.
SELECT pg_describe_object(d.classid, d.objid, 0) AS without_comment
FROM pg_depend AS d
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'comb')
  AND NOT (d.classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type WHERE typarray = d.objid))
  AND obj_description(d.objid, d.classid::regclass::name) IS NULL;
