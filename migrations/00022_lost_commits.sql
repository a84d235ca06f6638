-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- A process has noticed that the database lacks what was committed before: a standby was promoted that had not received it, or a
-- backup was restored. Until an operator has reviewed each finding, nothing is posted and no payment leaves.
CREATE TABLE lost_commit_findings (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    noticed_at timestamptz NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON lost_commit_findings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON lost_commit_findings TO causeway_service;

-- What is lost. The platform and the transaction may be lost too.
CREATE TABLE lost_commits (
    platform_id    uuid NOT NULL,
    finding_id     bigint NOT NULL CONSTRAINT lost_commit_finding_fkey REFERENCES lost_commit_findings,
    kind           text NOT NULL CONSTRAINT lost_commit_kind_known CHECK (kind IN ('POSTING', 'CHECKPOINT')),
    reference      text NOT NULL CONSTRAINT lost_commit_reference_length CHECK (length(reference) BETWEEN 1 AND 200),
    transaction_id uuid, -- of the posting
    committed_at   timestamptz, -- of the posting, by the clock of the process
    CONSTRAINT lost_commits_pkey PRIMARY KEY (platform_id, finding_id, kind, reference)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON lost_commits FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
SELECT isolate_platforms('lost_commits');
GRANT SELECT, INSERT ON lost_commits TO causeway_service;

CREATE TABLE lost_commit_reviews (
    finding_id  bigint PRIMARY KEY CONSTRAINT lost_commit_review_finding_fkey REFERENCES lost_commit_findings,
    reviewed_by text NOT NULL CONSTRAINT lost_commit_reviewed_by_length CHECK (length(reviewed_by) BETWEEN 1 AND 200),
    note        text NOT NULL CONSTRAINT lost_commit_review_note_length CHECK (length(note) BETWEEN 1 AND 500),
    reviewed_at timestamptz NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON lost_commit_reviews FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT ON lost_commit_reviews TO causeway_service;

-- Both tables of findings are empty, or nearly so, on the way of every posting.
-- +goose StatementBegin
CREATE FUNCTION refuse_posting_after_loss() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM lost_commit_findings f WHERE NOT EXISTS (SELECT FROM lost_commit_reviews r WHERE r.finding_id = f.id)) THEN
        RAISE EXCEPTION 'nothing is posted, because the database has lost commits' USING ERRCODE = 'CW004', HINT = 'Run causeway recover.';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER refuse_after_loss BEFORE INSERT ON ledger_posting_ids FOR EACH STATEMENT EXECUTE FUNCTION refuse_posting_after_loss();
