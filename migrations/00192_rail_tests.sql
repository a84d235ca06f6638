-- +goose Up
-- Tests of versions of connections. Payments take a version only after a test of it has passed.
SET LOCAL lock_timeout = '1s';

CREATE TABLE rail_tests (
    connection text        NOT NULL,
    version    integer     NOT NULL,
    id         bigint      GENERATED ALWAYS AS IDENTITY,
    passed     boolean     NOT NULL,
    checked    text[]      NOT NULL,
    problem    text        NOT NULL CONSTRAINT rail_test_problem_length CHECK (length(problem) <= 2000),
    tested_at  timestamptz NOT NULL,
    PRIMARY KEY (connection, version, id),
    CONSTRAINT rail_tests_version_fkey FOREIGN KEY (connection, version) REFERENCES rail_connections (name, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_tests FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- A connection that has carried payments or reported something works, and goes on.
INSERT INTO rail_tests (connection, version, passed, checked, problem, tested_at)
SELECT name, max(version), true, ARRAY['it worked before tests were recorded'], '', now() FROM rail_connections c
WHERE EXISTS (SELECT FROM rail_payments p WHERE p.connection = c.name AND p.settled_at IS NOT NULL AND p.state IN ('DONE', 'RETURNED'))
    OR EXISTS (SELECT FROM rail_receipts r WHERE r.connection = c.name)
    OR EXISTS (SELECT FROM rail_balances b WHERE b.connection = c.name)
GROUP BY name;

-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON rail_tests TO causeway_service;
