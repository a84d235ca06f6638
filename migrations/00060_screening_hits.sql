-- +goose Up
SET LOCAL lock_timeout = '1s';

-- When a sanctions match stopped the payments of a customer who was approved; NULL: none did.
ALTER TABLE customers ADD COLUMN held_at timestamptz;

-- The entries of sanctions lists that customers and beneficial owners resemble: each once, with what an
-- operator decided. They are deleted when the customer is erased.
CREATE TABLE screening_hits (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          uuid        NOT NULL,
    customer_id uuid        NOT NULL,
    owner_id    uuid, -- the owner resembles the entry; NULL: the customer does
    list        text        NOT NULL CONSTRAINT screening_hit_list_known CHECK (list IN ('ofac', 'eu')),
    ref         text        NOT NULL, -- the number of the entry in its list
    list_id     uuid        NOT NULL REFERENCES sanctions_lists, -- the version of the list
    status      text        NOT NULL CONSTRAINT screening_hit_status_known CHECK (status IN ('OPEN', 'CLEARED', 'CONFIRMED')),
    score       integer     NOT NULL CONSTRAINT screening_hit_score_range CHECK (score BETWEEN 0 AND 100),
    details     jsonb       NOT NULL, -- encrypted: the names, the reasons, the last decision
    found_at    timestamptz NOT NULL, -- with the present entry and name
    PRIMARY KEY (platform_id, id),
    CONSTRAINT screening_hit_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers,
    CONSTRAINT screening_hit_once UNIQUE NULLS NOT DISTINCT (platform_id, customer_id, owner_id, list, ref)
);
CREATE INDEX screening_hits_open ON screening_hits (platform_id, found_at, id) WHERE status = 'OPEN';
GRANT SELECT, INSERT, UPDATE, DELETE ON screening_hits TO causeway_service;
SELECT isolate_platforms('screening_hits');

-- The screening of all customers of a platform against a list that was loaded.
CREATE TABLE screening_runs (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    list_id      uuid        NOT NULL REFERENCES sanctions_lists,
    status       text        NOT NULL CONSTRAINT screening_run_status_known CHECK (status IN ('RUNNING', 'COMPLETED', 'REPLACED')),
    after_id     uuid        NOT NULL, -- the last customer that was screened; zero at the beginning
    total        integer     NOT NULL, -- customers at the beginning
    customers    integer     NOT NULL DEFAULT 0, -- that were screened
    owners       integer     NOT NULL DEFAULT 0,
    hits         integer     NOT NULL DEFAULT 0, -- that were new or open again
    started_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON screening_runs TO causeway_service;
SELECT isolate_platforms('screening_runs');
