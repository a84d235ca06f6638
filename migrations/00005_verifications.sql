-- +goose Up

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

-- Documents of customers and beneficial owners. The files are stored elsewhere, encrypted with a key
-- that is in details, so that a file is lost with its row. No foreign key: a holder is a row of one
-- of two tables, whose rows are never deleted.
CREATE TABLE documents (
    platform_id   uuid        NOT NULL REFERENCES platforms,
    id            uuid        NOT NULL,
    holder_type   text        NOT NULL CONSTRAINT document_holder_type_known CHECK (holder_type IN ('CUSTOMER', 'BENEFICIAL_OWNER')),
    holder_id     uuid        NOT NULL,
    document_type text        NOT NULL,
    side          text        NOT NULL CONSTRAINT document_side_known CHECK (side IN ('', 'FRONT', 'BACK')),
    country       text        NOT NULL,
    details       jsonb       NOT NULL, -- number, issuing authority, file name, hash and key: encrypted
    blob_id       uuid        NOT NULL, -- of the stored file
    content_type  text        NOT NULL CONSTRAINT document_content_type_known CHECK (content_type IN ('application/pdf', 'image/jpeg', 'image/png')),
    size          bigint      NOT NULL CONSTRAINT document_size_positive CHECK (size > 0), -- of the file, in bytes
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    submitted_at  timestamptz, -- for verification; NULL: not submitted
    superseded_by uuid,        -- NULL unless the row keeps a submitted file that the platform replaced
    PRIMARY KEY (platform_id, id),
    CONSTRAINT document_superseded_was_submitted CHECK (superseded_by IS NULL OR submitted_at IS NOT NULL)
);
CREATE INDEX documents_by_holder ON documents (platform_id, holder_id, id) WHERE holder_id IS NOT NULL;
CREATE UNIQUE INDEX document_blob_unique ON documents (platform_id, blob_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON documents TO causeway_service;
SELECT isolate_platforms('documents');

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

-- Links with which customers open the pages of their verification. Tokens are stored as hashes only.
CREATE TABLE kyc_links (
    platform_id        uuid        NOT NULL REFERENCES platforms,
    id                 uuid        NOT NULL,
    customer_id        uuid        NOT NULL,
    redirect_uri       text        NOT NULL,
    token_hash         bytea       NOT NULL,
    created_at         timestamptz NOT NULL,
    expires_at         timestamptz NOT NULL,
    opened_at          timestamptz,
    session_hash       bytea,
    session_expires_at timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT kyc_link_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers,
    CONSTRAINT kyc_link_session_begins_when_opened CHECK ((opened_at IS NULL) = (session_hash IS NULL) AND (opened_at IS NULL) = (session_expires_at IS NULL))
);
CREATE UNIQUE INDEX kyc_link_token_unique ON kyc_links (platform_id, token_hash);
CREATE UNIQUE INDEX kyc_link_session_unique ON kyc_links (platform_id, session_hash) WHERE session_hash IS NOT NULL;
CREATE INDEX kyc_links_by_customer ON kyc_links (platform_id, customer_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON kyc_links TO causeway_service;
SELECT isolate_platforms('kyc_links');

-- Messages in which the identity provider reported decisions, so that each takes effect once.
CREATE TABLE identity_messages (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          text        NOT NULL CONSTRAINT identity_message_id_length CHECK (length(id) BETWEEN 1 AND 256),
    received_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX identity_messages_by_received_at ON identity_messages (platform_id, received_at);
GRANT SELECT, INSERT, DELETE ON identity_messages TO causeway_service;
SELECT isolate_platforms('identity_messages');

-- The sanctions lists that operators loaded. The newest of each list is screened against; only its
-- entries are kept. The lists are public and the same for all platforms.
CREATE TABLE sanctions_lists (
    id           uuid        PRIMARY KEY,
    list         text        NOT NULL CONSTRAINT sanctions_list_known CHECK (list IN ('ofac', 'eu')),
    published_at timestamptz, -- NULL: the file has no date
    sha256       text        NOT NULL, -- of the files
    entries      integer     NOT NULL CONSTRAINT sanctions_list_has_entries CHECK (entries > 0),
    actor        text        NOT NULL CONSTRAINT sanctions_list_actor_length CHECK (length(actor) BETWEEN 1 AND 200),
    loaded_at    timestamptz NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON sanctions_lists FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON sanctions_lists TO causeway_service;

CREATE TABLE sanctions_entries (
    list_id uuid  NOT NULL REFERENCES sanctions_lists,
    ref     text  NOT NULL, -- the number of the entry in its list
    content jsonb NOT NULL,
    PRIMARY KEY (list_id, ref)
);
GRANT SELECT, INSERT, DELETE ON sanctions_entries TO causeway_service;

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
