-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The persons who own or control a business.
CREATE TABLE beneficial_owners (
    platform_id          uuid        NOT NULL REFERENCES platforms,
    id                   uuid        NOT NULL,
    customer_id          uuid        NOT NULL,
    roles                text[]      NOT NULL CONSTRAINT beneficial_owner_has_a_role CHECK (cardinality(roles) > 0),
    ownership_percentage integer     NOT NULL CONSTRAINT beneficial_owner_percentage_range CHECK (ownership_percentage BETWEEN 0 AND 100),
    status               text        NOT NULL CONSTRAINT beneficial_owner_status_known CHECK (status IN ('UNVERIFIED', 'PENDING', 'APPROVED', 'REJECTED')),
    application_id       uuid, -- of the last check of the person
    details              jsonb       NOT NULL, -- encrypted: the person, and what the check found
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT beneficial_owner_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers
);
CREATE INDEX beneficial_owners_by_customer ON beneficial_owners (platform_id, customer_id, id);
GRANT SELECT, INSERT, UPDATE, DELETE ON beneficial_owners TO causeway_service;
SELECT isolate_platforms('beneficial_owners');

-- The checks of customers' identities.
CREATE TABLE verifications (
    platform_id       uuid        NOT NULL REFERENCES platforms,
    id                uuid        NOT NULL,
    customer_id       uuid        NOT NULL,
    status            text        NOT NULL CONSTRAINT verification_status_known CHECK (status IN
        ('RESOLVE_ERRORS', 'READY_FOR_VERIFICATION', 'IN_PROGRESS', 'PENDING_MANUAL_REVIEW', 'APPROVED', 'REJECTED')),
    application_id    uuid, -- of the last submission
    customer_approved boolean     NOT NULL, -- a business may wait for its owners
    details           jsonb       NOT NULL, -- encrypted: errors, what was submitted, the last decision
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT verification_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers,
    CONSTRAINT verification_submitted CHECK (application_id IS NOT NULL OR status IN ('RESOLVE_ERRORS', 'READY_FOR_VERIFICATION'))
);
CREATE INDEX verifications_by_customer ON verifications (platform_id, customer_id, id);
CREATE INDEX verifications_by_status ON verifications (platform_id, status, id);
CREATE UNIQUE INDEX verification_one_open_per_customer ON verifications (platform_id, customer_id) WHERE status NOT IN ('APPROVED', 'REJECTED');
GRANT SELECT, INSERT, UPDATE, DELETE ON verifications TO causeway_service;
SELECT isolate_platforms('verifications');
