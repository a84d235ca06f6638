-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What operators decided about customers and beneficial owners. Rows stay when the customer is erased;
-- their details are then null. A verification has few of them.
CREATE TABLE verification_reviews (
    platform_id     uuid        NOT NULL REFERENCES platforms,
    id              uuid        NOT NULL,
    customer_id     uuid        NOT NULL,
    verification_id uuid, -- the customer was reviewed
    owner_id        uuid, -- the owner of the business was reviewed
    application_id  uuid        NOT NULL,
    verdict         text        NOT NULL CONSTRAINT verification_review_verdict_known CHECK (verdict IN ('ACCEPTED', 'REFUSED', 'CORRECTABLE')),
    actor           text        NOT NULL CONSTRAINT verification_review_actor_length CHECK (length(actor) BETWEEN 1 AND 200),
    details         jsonb       NOT NULL, -- encrypted: the reason, and what is to be corrected
    reviewed_at     timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT verification_review_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers,
    CONSTRAINT verification_review_subject CHECK ((verification_id IS NULL) <> (owner_id IS NULL))
);
CREATE INDEX verification_reviews_by_customer ON verification_reviews (platform_id, customer_id, id);
GRANT SELECT, INSERT, UPDATE (details) ON verification_reviews TO causeway_service;
SELECT isolate_platforms('verification_reviews');
