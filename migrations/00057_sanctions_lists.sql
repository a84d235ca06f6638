-- +goose Up
SET LOCAL lock_timeout = '1s';

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
CREATE TABLE sanctions_entries (
    list_id uuid  NOT NULL REFERENCES sanctions_lists,
    ref     text  NOT NULL, -- the number of the entry in its list
    content jsonb NOT NULL,
    PRIMARY KEY (list_id, ref)
);
GRANT SELECT, INSERT ON sanctions_lists TO causeway_service;
GRANT SELECT, INSERT, DELETE ON sanctions_entries TO causeway_service;
