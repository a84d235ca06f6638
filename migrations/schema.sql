GRANT USAGE ON SCHEMA public TO causeway_service;

CREATE TABLE agent_actions (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    agent_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    action_type text NOT NULL,
    status text NOT NULL,
    quote_id uuid,
    internal_account_id uuid,
    external_account_id uuid,
    currency text,
    amount bigint,
    rail text,
    signature text NOT NULL,
    transaction_id uuid,
    reason text NOT NULL,
    failure_code text NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    purpose text DEFAULT ''::text NOT NULL,
    remittance text DEFAULT ''::text NOT NULL,
    CONSTRAINT agent_action_approved_with_transaction CHECK (((status = 'APPROVED'::text) = (transaction_id IS NOT NULL))),
    CONSTRAINT agent_action_failed_with_code CHECK (((status = 'FAILED'::text) = (failure_code <> ''::text))),
    CONSTRAINT agent_action_has_one_payment CHECK ((((action_type = 'EXECUTE_QUOTE'::text) = (quote_id IS NOT NULL)) AND (num_nulls(internal_account_id, external_account_id, currency, amount, rail) =
CASE
    WHEN (quote_id IS NULL) THEN 0
    ELSE 5
END))),
    CONSTRAINT agent_action_status_known CHECK ((status = ANY (ARRAY['PENDING_APPROVAL'::text, 'APPROVED'::text, 'REJECTED'::text, 'FAILED'::text]))),
    CONSTRAINT agent_action_type_known CHECK ((action_type = ANY (ARRAY['EXECUTE_QUOTE'::text, 'TRANSFER_OUT'::text, 'TRANSFER_IN'::text])))
);
ALTER TABLE ONLY agent_actions
    ADD CONSTRAINT agent_actions_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX agent_action_transaction_unique ON agent_actions USING btree (platform_id, transaction_id) WHERE (transaction_id IS NOT NULL);
CREATE UNIQUE INDEX agent_action_waiting_quote_unique ON agent_actions USING btree (platform_id, quote_id) WHERE ((status = 'PENDING_APPROVAL'::text) AND (quote_id IS NOT NULL));
CREATE INDEX agent_actions_asked ON agent_actions USING btree (platform_id, customer_id) WHERE ((status <> 'APPROVED'::text) OR (decided_by IS NOT NULL));
CREATE INDEX agent_actions_by_agent ON agent_actions USING btree (platform_id, agent_id, id);
CREATE INDEX agent_actions_by_customer ON agent_actions USING btree (platform_id, customer_id, id);
CREATE INDEX agent_actions_waiting ON agent_actions USING btree (platform_id, id) WHERE (status = 'PENDING_APPROVAL'::text);
CREATE INDEX agent_actions_waiting_by_agent ON agent_actions USING btree (platform_id, agent_id, id) WHERE (status = 'PENDING_APPROVAL'::text);
ALTER TABLE agent_actions ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON agent_actions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(status) ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(transaction_id) ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(reason) ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(failure_code) ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(decided_by) ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(decided_at) ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(updated_at) ON TABLE agent_actions TO causeway_service;
GRANT UPDATE(remittance) ON TABLE agent_actions TO causeway_service;

CREATE TABLE agent_attempts (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    agent_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    operation text NOT NULL,
    decision text NOT NULL,
    reasons jsonb NOT NULL,
    error text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    internal_account_id uuid,
    external_account_id uuid,
    quote_id uuid,
    transaction_id uuid,
    action_id uuid,
    token_id uuid,
    attempted_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_attempt_decision_known CHECK ((decision = ANY (ARRAY['ALLOWED'::text, 'APPROVAL_REQUIRED'::text, 'REFUSED'::text])))
);
ALTER TABLE ONLY agent_attempts
    ADD CONSTRAINT agent_attempts_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX agent_attempts_by_action ON agent_attempts USING btree (platform_id, action_id, id) WHERE ((action_id IS NOT NULL) AND (transaction_id IS NULL));
CREATE INDEX agent_attempts_by_agent ON agent_attempts USING btree (platform_id, agent_id, id);
CREATE INDEX agent_attempts_by_transaction ON agent_attempts USING btree (platform_id, transaction_id, id) WHERE (transaction_id IS NOT NULL);
ALTER TABLE agent_attempts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON agent_attempts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE agent_attempts TO causeway_service;

CREATE TABLE agent_device_codes (
    platform_id uuid NOT NULL,
    hash bytea NOT NULL,
    agent_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    voided_at timestamp with time zone,
    redeemed_at timestamp with time zone,
    CONSTRAINT agent_device_code_hash_length CHECK ((length(hash) = 32)),
    CONSTRAINT agent_device_code_redeemed_or_voided CHECK ((num_nonnulls(voided_at, redeemed_at) <= 1))
);
ALTER TABLE ONLY agent_device_codes
    ADD CONSTRAINT agent_device_codes_pkey PRIMARY KEY (platform_id, hash);
CREATE UNIQUE INDEX agent_device_code_hash_unique ON agent_device_codes USING btree (hash);
CREATE UNIQUE INDEX agent_device_code_open_unique ON agent_device_codes USING btree (platform_id, agent_id) WHERE ((voided_at IS NULL) AND (redeemed_at IS NULL));
CREATE INDEX agent_device_codes_by_agent ON agent_device_codes USING btree (platform_id, agent_id);
CREATE INDEX agent_device_codes_by_expires_at ON agent_device_codes USING btree (platform_id, expires_at);
ALTER TABLE ONLY agent_device_codes
    ADD CONSTRAINT agent_device_code_agent_fkey FOREIGN KEY (platform_id, agent_id) REFERENCES agents(platform_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY agent_device_codes
    ADD CONSTRAINT agent_device_codes_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE agent_device_codes ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON agent_device_codes USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE agent_device_codes TO causeway_service;

CREATE TABLE agent_usage (
    platform_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    day date NOT NULL,
    currency text NOT NULL,
    transactions bigint NOT NULL,
    spent bigint NOT NULL,
    CONSTRAINT agent_usage_spent_not_negative CHECK ((spent >= 0)),
    CONSTRAINT agent_usage_transactions_not_negative CHECK ((transactions >= 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY agent_usage
    ADD CONSTRAINT agent_usage_pkey PRIMARY KEY (platform_id, agent_id, day, currency);
CREATE INDEX agent_usage_by_day ON agent_usage USING btree (platform_id, day);
ALTER TABLE ONLY agent_usage
    ADD CONSTRAINT agent_usage_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE agent_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON agent_usage USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE agent_usage TO causeway_service;

CREATE TABLE agents (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    name text NOT NULL,
    paused boolean NOT NULL,
    policy jsonb NOT NULL,
    token_hash bytea,
    connected_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_connected_with_token CHECK (((token_hash IS NULL) = (connected_at IS NULL))),
    CONSTRAINT agent_token_hash_length CHECK ((length(token_hash) = 32))
);
ALTER TABLE ONLY agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX agent_token_hash_unique ON agents USING btree (token_hash);
CREATE INDEX agents_by_customer ON agents USING btree (platform_id, customer_id, id);
ALTER TABLE ONLY agents
    ADD CONSTRAINT agent_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY agents
    ADD CONSTRAINT agents_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE agents ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON agents USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE agents TO causeway_service;

CREATE TABLE backup_verifications (
    id bigint NOT NULL,
    began_at timestamp with time zone NOT NULL,
    backup text NOT NULL,
    backup_at timestamp with time zone,
    backup_bytes bigint NOT NULL,
    restored_to text NOT NULL,
    last_segment text NOT NULL,
    last_commit_at timestamp with time zone,
    restored_in interval NOT NULL,
    postings bigint NOT NULL,
    unreached bigint NOT NULL,
    problem text NOT NULL,
    CONSTRAINT backup_verification_backup_length CHECK ((length(backup) <= 1000)),
    CONSTRAINT backup_verification_last_segment_length CHECK ((length(last_segment) <= 30)),
    CONSTRAINT backup_verification_of_backup CHECK (((problem <> ''::text) OR ((backup <> ''::text) AND (backup_at IS NOT NULL) AND (restored_to <> ''::text)))),
    CONSTRAINT backup_verification_problem_length CHECK ((length(problem) <= 2000)),
    CONSTRAINT backup_verification_restored_in_positive CHECK ((restored_in >= '00:00:00'::interval)),
    CONSTRAINT backup_verification_restored_to_length CHECK ((length(restored_to) <= 30))
);
ALTER TABLE backup_verifications ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME backup_verifications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY backup_verifications
    ADD CONSTRAINT backup_verifications_pkey PRIMARY KEY (id);
CREATE INDEX backup_verifications_by_passed ON backup_verifications USING btree (id) WHERE (problem = ''::text);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON backup_verifications FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT,INSERT ON TABLE backup_verifications TO causeway_service;

CREATE TABLE bank_connections (
    connection text NOT NULL,
    fence bigint NOT NULL,
    holder uuid NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    files bigint DEFAULT 0 NOT NULL,
    received bigint DEFAULT 0 NOT NULL,
    news bigint DEFAULT 0 NOT NULL,
    traces integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY bank_connections
    ADD CONSTRAINT bank_connections_pkey PRIMARY KEY (connection);
GRANT SELECT,INSERT,UPDATE ON TABLE bank_connections TO causeway_service;

CREATE TABLE bank_corrections (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    connection text NOT NULL,
    file bigint NOT NULL,
    place text NOT NULL,
    details text NOT NULL,
    received_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY bank_corrections
    ADD CONSTRAINT bank_correction_notice_unique UNIQUE (connection, file, place);
ALTER TABLE ONLY bank_corrections
    ADD CONSTRAINT bank_corrections_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX bank_corrections_by_order ON bank_corrections USING btree (platform_id, order_id);
ALTER TABLE ONLY bank_corrections
    ADD CONSTRAINT bank_correction_order_fkey FOREIGN KEY (platform_id, order_id) REFERENCES bank_orders(platform_id, id) ON DELETE CASCADE;
ALTER TABLE bank_corrections ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON bank_corrections USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bank_corrections TO causeway_service;

CREATE TABLE bank_files (
    connection text NOT NULL,
    number bigint NOT NULL,
    rail text NOT NULL,
    currency text NOT NULL,
    day date NOT NULL,
    day_number integer NOT NULL,
    name text NOT NULL,
    message_id text NOT NULL,
    orders integer NOT NULL,
    sum numeric NOT NULL,
    first_trace integer NOT NULL,
    state text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    temporary_name text DEFAULT ''::text NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    sha256 bytea,
    size bigint,
    created_at timestamp with time zone NOT NULL,
    uploaded_at timestamp with time zone,
    delivered_at timestamp with time zone,
    settles_at timestamp with time zone,
    place text DEFAULT ''::text NOT NULL,
    CONSTRAINT bank_file_day_number_positive CHECK ((day_number > 0)),
    CONSTRAINT bank_file_delivered_at CHECK (((state = 'DELIVERED'::text) = (delivered_at IS NOT NULL))),
    CONSTRAINT bank_file_has_orders CHECK ((orders > 0)),
    CONSTRAINT bank_file_number_positive CHECK ((number > 0)),
    CONSTRAINT bank_file_state_known CHECK ((state = ANY (ARRAY['CREATED'::text, 'UPLOADED'::text, 'DELIVERED'::text]))),
    CONSTRAINT bank_file_sum_positive CHECK ((sum > (0)::numeric)),
    CONSTRAINT bank_file_uploaded_is_known CHECK (((state = 'CREATED'::text) OR ((temporary_name <> ''::text) AND (length(sha256) = 32) AND (size > 0))))
);
ALTER TABLE ONLY bank_files
    ADD CONSTRAINT bank_file_day_number_unique UNIQUE (connection, rail, day, day_number);
ALTER TABLE ONLY bank_files
    ADD CONSTRAINT bank_file_message_unique UNIQUE (connection, message_id);
ALTER TABLE ONLY bank_files
    ADD CONSTRAINT bank_file_name_unique UNIQUE (connection, name);
ALTER TABLE ONLY bank_files
    ADD CONSTRAINT bank_files_pkey PRIMARY KEY (connection, number);
CREATE INDEX bank_files_by_delivery ON bank_files USING btree (delivered_at);
CREATE INDEX bank_files_settling ON bank_files USING btree (connection, settles_at) WHERE (settles_at IS NOT NULL);
CREATE INDEX bank_files_undelivered ON bank_files USING btree (connection, number) WHERE (state <> 'DELIVERED'::text);
ALTER TABLE ONLY bank_files
    ADD CONSTRAINT bank_files_connection_fkey FOREIGN KEY (connection) REFERENCES bank_connections(connection);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bank_files TO causeway_service;

CREATE TABLE bank_notices (
    connection text NOT NULL,
    file bigint NOT NULL,
    place text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    code text NOT NULL,
    noticed_at timestamp with time zone NOT NULL,
    CONSTRAINT bank_notice_kind_known CHECK ((kind = ANY (ARRAY['UNKNOWN_PAYMENT'::text, 'CONTRADICTION'::text, 'DUPLICATE_FILE'::text, 'UNREADABLE_FILE'::text, 'CORRECTION'::text, 'OTHER_ACCOUNT'::text, 'OTHER_CURRENCY'::text])))
);
ALTER TABLE ONLY bank_notices
    ADD CONSTRAINT bank_notices_pkey PRIMARY KEY (connection, file, place, kind);
CREATE INDEX bank_notices_by_time ON bank_notices USING btree (noticed_at);
CREATE INDEX bank_notices_newest ON bank_notices USING btree (connection, noticed_at);
ALTER TABLE ONLY bank_notices
    ADD CONSTRAINT bank_notices_connection_fkey FOREIGN KEY (connection) REFERENCES bank_connections(connection);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bank_notices TO causeway_service;

CREATE TABLE bank_orders (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    subject_id uuid NOT NULL,
    kind text NOT NULL,
    connection text NOT NULL,
    rail text NOT NULL,
    batch text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    end_to_end_id text NOT NULL,
    key text NOT NULL,
    details text NOT NULL,
    state text NOT NULL,
    file_number bigint,
    file_position integer,
    news bigint DEFAULT 0 NOT NULL,
    reported_in bigint DEFAULT 0 NOT NULL,
    partner_id text DEFAULT ''::text NOT NULL,
    code text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    settled_at timestamp with time zone,
    returned_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    return_id text DEFAULT ''::text NOT NULL,
    CONSTRAINT bank_order_amount_positive CHECK ((amount > 0)),
    CONSTRAINT bank_order_in_file CHECK ((((state = 'QUEUED'::text) = (file_number IS NULL)) AND ((file_number IS NULL) = (file_position IS NULL)))),
    CONSTRAINT bank_order_kind_known CHECK ((kind = ANY (ARRAY['PAYOUT'::text, 'REFUND'::text, 'COLLECTION'::text]))),
    CONSTRAINT bank_order_returned_at CHECK (((state = 'RETURNED'::text) = (returned_at IS NOT NULL))),
    CONSTRAINT bank_order_settled_at CHECK (((state <> 'SETTLED'::text) OR (settled_at IS NOT NULL))),
    CONSTRAINT bank_order_state_known CHECK ((state = ANY (ARRAY['QUEUED'::text, 'IN_FILE'::text, 'ACCEPTED'::text, 'PENDING'::text, 'SETTLED'::text, 'REJECTED'::text, 'RETURNED'::text])))
);
ALTER TABLE ONLY bank_orders
    ADD CONSTRAINT bank_order_end_to_end_id_unique UNIQUE (connection, end_to_end_id);
ALTER TABLE ONLY bank_orders
    ADD CONSTRAINT bank_order_key_unique UNIQUE (connection, key);
ALTER TABLE ONLY bank_orders
    ADD CONSTRAINT bank_order_position_unique UNIQUE (connection, file_number, file_position);
ALTER TABLE ONLY bank_orders
    ADD CONSTRAINT bank_orders_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX bank_orders_by_news ON bank_orders USING btree (connection, news) WHERE (news > 0);
CREATE INDEX bank_orders_ended ON bank_orders USING btree (platform_id, updated_at) WHERE (state = ANY (ARRAY['SETTLED'::text, 'REJECTED'::text, 'RETURNED'::text]));
CREATE INDEX bank_orders_open_by_file ON bank_orders USING btree (connection, file_number, file_position) WHERE (state = ANY (ARRAY['IN_FILE'::text, 'ACCEPTED'::text, 'PENDING'::text]));
CREATE INDEX bank_orders_queued ON bank_orders USING btree (connection, rail, currency, queued_at, id) WHERE (state = 'QUEUED'::text);
CREATE TRIGGER bank_order_stays_in_file BEFORE UPDATE ON bank_orders FOR EACH ROW WHEN (((old.file_number IS NOT NULL) AND ((((((((((old.file_number IS DISTINCT FROM new.file_number) OR (old.file_position IS DISTINCT FROM new.file_position)) OR (old.connection IS DISTINCT FROM new.connection)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.rail IS DISTINCT FROM new.rail)) OR (old.batch IS DISTINCT FROM new.batch)) OR (old.amount IS DISTINCT FROM new.amount)) OR (old.currency IS DISTINCT FROM new.currency)) OR (old.end_to_end_id IS DISTINCT FROM new.end_to_end_id)) OR (old.key IS DISTINCT FROM new.key)))) EXECUTE FUNCTION keep_bank_order_file();
ALTER TABLE ONLY bank_orders
    ADD CONSTRAINT bank_order_file_fkey FOREIGN KEY (connection, file_number) REFERENCES bank_files(connection, number);
ALTER TABLE bank_orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON bank_orders USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bank_orders TO causeway_service;

CREATE TABLE bank_receipt_names (
    connection text NOT NULL,
    name text NOT NULL,
    partner_id text NOT NULL,
    received_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY bank_receipt_names
    ADD CONSTRAINT bank_receipt_names_pkey PRIMARY KEY (connection, name, partner_id);
CREATE INDEX bank_receipt_names_by_time ON bank_receipt_names USING btree (received_at);
ALTER TABLE ONLY bank_receipt_names
    ADD CONSTRAINT bank_receipt_names_connection_fkey FOREIGN KEY (connection) REFERENCES bank_connections(connection);
GRANT SELECT,INSERT,DELETE ON TABLE bank_receipt_names TO causeway_service;

CREATE TABLE bank_received_files (
    connection text NOT NULL,
    number bigint NOT NULL,
    name text NOT NULL,
    size bigint NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    sha256 bytea NOT NULL,
    state text NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    found_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT bank_received_file_number_positive CHECK ((number > 0)),
    CONSTRAINT bank_received_file_sha256_length CHECK ((length(sha256) = 32)),
    CONSTRAINT bank_received_file_state_known CHECK ((state = ANY (ARRAY['READING'::text, 'READ'::text, 'DUPLICATE'::text, 'UNREADABLE'::text])))
);
ALTER TABLE ONLY bank_received_files
    ADD CONSTRAINT bank_received_file_unique UNIQUE (connection, name, size, modified_at, sha256);
ALTER TABLE ONLY bank_received_files
    ADD CONSTRAINT bank_received_files_pkey PRIMARY KEY (connection, number);
CREATE UNIQUE INDEX bank_received_files_by_content ON bank_received_files USING btree (connection, sha256) WHERE (state = ANY (ARRAY['READING'::text, 'READ'::text]));
CREATE INDEX bank_received_files_by_digest ON bank_received_files USING btree (connection, sha256);
CREATE INDEX bank_received_files_by_end ON bank_received_files USING btree (ended_at);
ALTER TABLE ONLY bank_received_files
    ADD CONSTRAINT bank_received_files_connection_fkey FOREIGN KEY (connection) REFERENCES bank_connections(connection);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE bank_received_files TO causeway_service;

CREATE TABLE beneficial_owners (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    roles text[] NOT NULL,
    ownership_percentage integer NOT NULL,
    status text NOT NULL,
    application_id uuid,
    details jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT beneficial_owner_has_a_role CHECK ((cardinality(roles) > 0)),
    CONSTRAINT beneficial_owner_percentage_range CHECK (((ownership_percentage >= 0) AND (ownership_percentage <= 100))),
    CONSTRAINT beneficial_owner_status_known CHECK ((status = ANY (ARRAY['UNVERIFIED'::text, 'PENDING'::text, 'APPROVED'::text, 'REJECTED'::text])))
);
ALTER TABLE ONLY beneficial_owners
    ADD CONSTRAINT beneficial_owners_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX beneficial_owners_by_customer ON beneficial_owners USING btree (platform_id, customer_id, id);
ALTER TABLE ONLY beneficial_owners
    ADD CONSTRAINT beneficial_owner_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY beneficial_owners
    ADD CONSTRAINT beneficial_owners_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE beneficial_owners ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON beneficial_owners USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE beneficial_owners TO causeway_service;

CREATE TABLE bitcoin_addresses (
    platform_id uuid NOT NULL,
    connection text NOT NULL,
    address text NOT NULL,
    reference text NOT NULL,
    known_at timestamp with time zone NOT NULL,
    imported_at timestamp with time zone,
    checked_at timestamp with time zone
);
ALTER TABLE ONLY bitcoin_addresses
    ADD CONSTRAINT bitcoin_addresses_pkey PRIMARY KEY (platform_id, connection, address);
CREATE INDEX bitcoin_addresses_by_address ON bitcoin_addresses USING btree (connection, address);
CREATE INDEX bitcoin_addresses_to_check ON bitcoin_addresses USING btree (connection, checked_at) WHERE (imported_at IS NOT NULL);
CREATE INDEX bitcoin_addresses_to_import ON bitcoin_addresses USING btree (connection, address) WHERE (imported_at IS NULL);
ALTER TABLE ONLY bitcoin_addresses
    ADD CONSTRAINT bitcoin_addresses_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE bitcoin_addresses ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON bitcoin_addresses USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE bitcoin_addresses TO causeway_service;

CREATE TABLE bitcoin_batches (
    connection text NOT NULL,
    number bigint NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    since text NOT NULL,
    txid text DEFAULT ''::text NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT bitcoin_batch_status_known CHECK ((status = ANY (ARRAY['SENT'::text, 'CONFIRMED'::text, 'FINAL'::text, 'RELEASED'::text])))
);
ALTER TABLE ONLY bitcoin_batches
    ADD CONSTRAINT bitcoin_batches_pkey PRIMARY KEY (connection, number);
CREATE INDEX bitcoin_batches_by_end ON bitcoin_batches USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX bitcoin_batches_open ON bitcoin_batches USING btree (connection, number) WHERE (status = ANY (ARRAY['SENT'::text, 'CONFIRMED'::text]));
GRANT SELECT,INSERT,UPDATE ON TABLE bitcoin_batches TO causeway_service;

CREATE TABLE bitcoin_deposits (
    connection text NOT NULL,
    txid text NOT NULL,
    vout bigint NOT NULL,
    address text NOT NULL,
    satoshis bigint NOT NULL,
    block text NOT NULL,
    height bigint NOT NULL,
    status text NOT NULL,
    occurrence integer NOT NULL,
    CONSTRAINT bitcoin_deposit_status_known CHECK ((status = ANY (ARRAY['IMMATURE'::text, 'CREDITED'::text, 'REVERSED'::text])))
);
ALTER TABLE ONLY bitcoin_deposits
    ADD CONSTRAINT bitcoin_deposits_pkey PRIMARY KEY (connection, txid, vout);
CREATE INDEX bitcoin_deposits_by_height ON bitcoin_deposits USING btree (connection, height) WHERE (status <> 'REVERSED'::text);
GRANT SELECT,INSERT,UPDATE ON TABLE bitcoin_deposits TO causeway_service;

CREATE TABLE bitcoin_events (
    connection text NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    partner_id text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY bitcoin_events
    ADD CONSTRAINT bitcoin_event_once UNIQUE (connection, kind, partner_id);
ALTER TABLE ONLY bitcoin_events
    ADD CONSTRAINT bitcoin_events_pkey PRIMARY KEY (connection, number);
CREATE INDEX bitcoin_events_by_created_at ON bitcoin_events USING btree (created_at);
GRANT SELECT,INSERT,DELETE ON TABLE bitcoin_events TO causeway_service;

CREATE TABLE bitcoin_inputs (
    connection text NOT NULL,
    outpoint text NOT NULL,
    batch bigint NOT NULL
);
ALTER TABLE ONLY bitcoin_inputs
    ADD CONSTRAINT bitcoin_inputs_pkey PRIMARY KEY (connection, outpoint);
CREATE INDEX bitcoin_inputs_by_batch ON bitcoin_inputs USING btree (connection, batch);
GRANT SELECT,INSERT,DELETE ON TABLE bitcoin_inputs TO causeway_service;

CREATE TABLE bitcoin_payments (
    platform_id uuid NOT NULL,
    connection text NOT NULL,
    id uuid NOT NULL,
    address text NOT NULL,
    satoshis bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    batch bigint,
    kind text NOT NULL,
    CONSTRAINT bitcoin_payment_kind_known CHECK ((kind = ANY (ARRAY['PAYOUT'::text, 'REFUND'::text]))),
    CONSTRAINT bitcoin_payment_positive CHECK ((satoshis > 0))
);
ALTER TABLE ONLY bitcoin_payments
    ADD CONSTRAINT bitcoin_payments_pkey PRIMARY KEY (platform_id, connection, id, kind);
CREATE INDEX bitcoin_payments_by_batch ON bitcoin_payments USING btree (connection, batch) WHERE (batch IS NOT NULL);
CREATE INDEX bitcoin_payments_unsigned ON bitcoin_payments USING btree (connection, id) WHERE (batch IS NULL);
ALTER TABLE ONLY bitcoin_payments
    ADD CONSTRAINT bitcoin_payments_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE bitcoin_payments ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON bitcoin_payments USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE bitcoin_payments TO causeway_service;

CREATE TABLE bitcoin_transactions (
    connection text NOT NULL,
    txid text NOT NULL,
    batch bigint NOT NULL,
    version integer NOT NULL,
    raw bytea NOT NULL,
    fee bigint NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY bitcoin_transactions
    ADD CONSTRAINT bitcoin_transaction_version_once UNIQUE (connection, batch, version);
ALTER TABLE ONLY bitcoin_transactions
    ADD CONSTRAINT bitcoin_transactions_pkey PRIMARY KEY (connection, txid);
GRANT SELECT,INSERT,DELETE ON TABLE bitcoin_transactions TO causeway_service;

CREATE TABLE bitcoin_wallets (
    connection text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    lease bigint NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    scanned_block text DEFAULT ''::text NOT NULL,
    scanned_height bigint DEFAULT 0 NOT NULL,
    best_block text DEFAULT ''::text NOT NULL,
    rescan_height bigint,
    references_until timestamp with time zone,
    last_event bigint DEFAULT 0 NOT NULL,
    read_event bigint DEFAULT 0 NOT NULL,
    last_batch bigint DEFAULT 0 NOT NULL,
    holder uuid
);
ALTER TABLE ONLY bitcoin_wallets
    ADD CONSTRAINT bitcoin_wallets_pkey PRIMARY KEY (connection);
GRANT SELECT,INSERT,UPDATE ON TABLE bitcoin_wallets TO causeway_service;

CREATE TABLE corridor_changes (
    seq bigint NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_by text DEFAULT COALESCE(NULLIF(current_setting('causeway.operator'::text, true), ''::text), (SESSION_USER)::text) NOT NULL,
    note text NOT NULL,
    platform_id uuid,
    source text NOT NULL,
    destination text NOT NULL,
    old_fee_fixed bigint,
    old_fee_fraction text,
    old_min_sending bigint,
    old_max_sending bigint,
    old_lock_seconds integer,
    new_fee_fixed bigint,
    new_fee_fraction text,
    new_min_sending bigint,
    new_max_sending bigint,
    new_lock_seconds integer,
    proposal_id uuid DEFAULT (NULLIF(current_setting('causeway.proposal'::text, true), ''::text))::uuid,
    approver text DEFAULT COALESCE(current_setting('causeway.approver'::text, true), ''::text) NOT NULL,
    person_id uuid DEFAULT (NULLIF(current_setting('causeway.person'::text, true), ''::text))::uuid,
    CONSTRAINT corridor_change_has_approver CHECK (((proposal_id IS NOT NULL) = (approver <> ''::text))),
    CONSTRAINT corridor_change_two_people CHECK (((approver = ''::text) OR (lower(approver) <> lower(changed_by))))
);
ALTER TABLE corridor_changes ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME corridor_changes_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY corridor_changes
    ADD CONSTRAINT corridor_change_once_by_proposal UNIQUE (proposal_id);
ALTER TABLE ONLY corridor_changes
    ADD CONSTRAINT corridor_changes_pkey PRIMARY KEY (seq);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON corridor_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON corridor_changes REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('corridor-change', 'seq');
ALTER TABLE ONLY corridor_changes
    ADD CONSTRAINT corridor_change_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES corridor_proposals(id);
ALTER TABLE ONLY corridor_changes
    ADD CONSTRAINT corridor_changes_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE corridor_changes ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON corridor_changes USING (((platform_id IS NULL) OR (platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT ON TABLE corridor_changes TO causeway_service;

CREATE TABLE corridor_overrides (
    platform_id uuid,
    source text NOT NULL,
    destination text NOT NULL,
    fee_fixed bigint,
    fee_fraction text,
    min_sending bigint,
    max_sending bigint,
    lock_seconds integer,
    CONSTRAINT corridor_fixed_fee_not_negative CHECK ((fee_fixed >= 0)),
    CONSTRAINT corridor_lock_between_1_and_15_minutes CHECK (((lock_seconds >= 60) AND (lock_seconds <= 900))),
    CONSTRAINT corridor_maximum_positive CHECK ((max_sending > 0)),
    CONSTRAINT corridor_minimum_positive CHECK ((min_sending > 0))
);
CREATE UNIQUE INDEX corridor_override_unique ON corridor_overrides USING btree (COALESCE(platform_id, '00000000-0000-0000-0000-000000000000'::uuid), source, destination);
CREATE TRIGGER corridor_as_proposed BEFORE INSERT OR DELETE OR UPDATE ON corridor_overrides FOR EACH ROW EXECUTE FUNCTION corridor_check_proposed();
CREATE TRIGGER corridor_overrides_no_truncate BEFORE TRUNCATE ON corridor_overrides FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Use DELETE, which is recorded.');
CREATE TRIGGER corridor_overrides_record_change AFTER INSERT OR DELETE OR UPDATE ON corridor_overrides FOR EACH ROW EXECUTE FUNCTION corridor_record_change();
ALTER TABLE ONLY corridor_overrides
    ADD CONSTRAINT corridor_overrides_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE corridor_overrides ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON corridor_overrides USING (((platform_id IS NULL) OR (platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE corridor_overrides TO causeway_service;
GRANT UPDATE(fee_fixed) ON TABLE corridor_overrides TO causeway_service;
GRANT UPDATE(fee_fraction) ON TABLE corridor_overrides TO causeway_service;
GRANT UPDATE(min_sending) ON TABLE corridor_overrides TO causeway_service;
GRANT UPDATE(max_sending) ON TABLE corridor_overrides TO causeway_service;
GRANT UPDATE(lock_seconds) ON TABLE corridor_overrides TO causeway_service;

CREATE TABLE corridor_proposals (
    id uuid NOT NULL,
    platform_id uuid,
    operation text NOT NULL,
    request text NOT NULL,
    status text NOT NULL,
    proposer text NOT NULL,
    decider text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error_message text DEFAULT ''::text NOT NULL,
    error_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    proposer_person_id uuid,
    decider_person_id uuid,
    CONSTRAINT corridor_proposal_has_decider CHECK ((((status <> 'PENDING'::text) = (decided_at IS NOT NULL)) AND ((status <> 'PENDING'::text) = (decider <> ''::text)))),
    CONSTRAINT corridor_proposal_has_proposer CHECK ((proposer <> ''::text)),
    CONSTRAINT corridor_proposal_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT corridor_proposal_status_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'EXECUTED'::text, 'REJECTED'::text]))),
    CONSTRAINT corridor_proposal_two_people CHECK (((status <> 'EXECUTED'::text) OR (lower(decider) <> lower(proposer))))
);
ALTER TABLE corridor_proposals
    ADD CONSTRAINT corridor_proposal_two_persons CHECK (((status <> 'EXECUTED'::text) OR (decider_person_id IS NULL) OR (decider_person_id IS DISTINCT FROM proposer_person_id))) NOT VALID;
ALTER TABLE ONLY corridor_proposals
    ADD CONSTRAINT corridor_proposals_pkey PRIMARY KEY (id);
CREATE TRIGGER corridor_proposal_check_change BEFORE UPDATE ON corridor_proposals FOR EACH ROW EXECUTE FUNCTION corridor_check_proposal_change();
CREATE TRIGGER corridor_proposal_fixed BEFORE UPDATE OF id, platform_id, operation, request, proposer, created_at, expires_at ON corridor_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON corridor_proposals REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('corridor-proposal', 'id');
CREATE TRIGGER ledger_evidence_decision AFTER INSERT OR UPDATE ON corridor_proposals FOR EACH ROW WHEN (((new.status <> 'PENDING'::text) AND (new.platform_id IS NOT NULL))) EXECUTE FUNCTION ledger_queue_decision('corridor-decision');
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON corridor_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY corridor_proposals
    ADD CONSTRAINT corridor_proposals_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE corridor_proposals ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON corridor_proposals USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(status) ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(decider) ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(note) ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(error_code) ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(error_message) ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(error_at) ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(decided_at) ON TABLE corridor_proposals TO causeway_service;
GRANT UPDATE(decider_person_id) ON TABLE corridor_proposals TO causeway_service;

CREATE TABLE customer_import_chunks (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    import_id uuid NOT NULL,
    first_row integer NOT NULL,
    rows bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='200');
ALTER TABLE ONLY customer_import_chunks
    ADD CONSTRAINT customer_import_chunks_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX customer_import_chunks_by_row ON customer_import_chunks USING btree (platform_id, import_id, first_row);
ALTER TABLE ONLY customer_import_chunks
    ADD CONSTRAINT customer_import_chunk_import_fkey FOREIGN KEY (platform_id, import_id) REFERENCES customer_imports(platform_id, id) ON DELETE CASCADE;
ALTER TABLE customer_import_chunks ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON customer_import_chunks USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE customer_import_chunks TO causeway_service;
GRANT UPDATE(rows) ON TABLE customer_import_chunks TO causeway_service;

CREATE TABLE customer_import_errors (
    platform_id uuid NOT NULL,
    import_id uuid NOT NULL,
    "position" integer NOT NULL,
    row_number integer NOT NULL,
    line integer NOT NULL,
    platform_customer_id text NOT NULL,
    code text NOT NULL,
    message text NOT NULL,
    reason text NOT NULL,
    column_name text NOT NULL,
    fields jsonb NOT NULL
);
ALTER TABLE ONLY customer_import_errors
    ADD CONSTRAINT customer_import_errors_pkey PRIMARY KEY (platform_id, import_id, "position");
ALTER TABLE ONLY customer_import_errors
    ADD CONSTRAINT customer_import_error_import_fkey FOREIGN KEY (platform_id, import_id) REFERENCES customer_imports(platform_id, id) ON DELETE CASCADE;
ALTER TABLE customer_import_errors ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON customer_import_errors USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE customer_import_errors TO causeway_service;

CREATE TABLE customer_imports (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    columns text[] DEFAULT '{}'::text[] NOT NULL,
    total integer DEFAULT 0 NOT NULL,
    successful integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    CONSTRAINT customer_import_counts_rows CHECK (((successful >= 0) AND (failed >= 0) AND ((successful + failed) <= total))),
    CONSTRAINT customer_import_status_known CHECK ((status = ANY (ARRAY['UPLOADING'::text, 'PENDING'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text])))
);
ALTER TABLE ONLY customer_imports
    ADD CONSTRAINT customer_imports_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX customer_imports_by_updated_at ON customer_imports USING btree (platform_id, updated_at);
CREATE INDEX customer_imports_unfinished ON customer_imports USING btree (platform_id) WHERE (completed_at IS NULL);
ALTER TABLE ONLY customer_imports
    ADD CONSTRAINT customer_imports_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE customer_imports ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON customer_imports USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE customer_imports TO causeway_service;

CREATE TABLE customer_notes (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    person_id uuid,
    author text NOT NULL,
    content text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY customer_notes
    ADD CONSTRAINT customer_notes_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX customer_notes_by_customer ON customer_notes USING btree (platform_id, customer_id, id);
ALTER TABLE ONLY customer_notes
    ADD CONSTRAINT customer_note_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY customer_notes
    ADD CONSTRAINT customer_note_person_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE ONLY customer_notes
    ADD CONSTRAINT customer_note_platform_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE customer_notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON customer_notes USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE customer_notes TO causeway_service;
GRANT UPDATE(content) ON TABLE customer_notes TO causeway_service;

CREATE TABLE customers (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    platform_customer_id text NOT NULL,
    customer_type text NOT NULL,
    region text DEFAULT ''::text NOT NULL,
    currencies text[] DEFAULT '{}'::text[] NOT NULL,
    email text DEFAULT ''::text NOT NULL,
    uma_address text NOT NULL,
    status text NOT NULL,
    details jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    held_at timestamp with time zone,
    contacts jsonb,
    on_hold_at timestamp with time zone,
    CONSTRAINT customer_status_known CHECK ((status = ANY (ARRAY['UNVERIFIED'::text, 'PENDING'::text, 'APPROVED'::text, 'REJECTED'::text]))),
    CONSTRAINT customer_type_known CHECK ((customer_type = ANY (ARRAY['INDIVIDUAL'::text, 'BUSINESS'::text])))
);
ALTER TABLE ONLY customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX customer_platform_id_unique_while_active ON customers USING btree (platform_id, platform_customer_id) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX customer_uma_address_unique_while_active ON customers USING btree (platform_id, uma_address) WHERE (deleted_at IS NULL);
CREATE INDEX customers_by_platform_customer_id ON customers USING btree (platform_id, platform_customer_id, id) WHERE (platform_customer_id <> ''::text);
CREATE INDEX customers_by_region ON customers USING btree (platform_id, region, id) WHERE (region <> ''::text);
CREATE INDEX customers_by_type ON customers USING btree (platform_id, customer_type, id) WHERE (customer_type <> ''::text);
CREATE INDEX customers_by_uma_address ON customers USING btree (platform_id, uma_address, id) WHERE (uma_address <> ''::text);
CREATE INDEX customers_by_updated_at ON customers USING btree (platform_id, updated_at, id) WHERE (updated_at IS NOT NULL);
CREATE INDEX customers_on_hold ON customers USING btree (platform_id, on_hold_at, id) WHERE (on_hold_at IS NOT NULL);
CREATE TRIGGER keep_on_hold BEFORE UPDATE ON customers FOR EACH ROW WHEN (((old.on_hold_at IS NOT NULL) AND (new.on_hold_at IS NOT NULL) AND (new.status = 'APPROVED'::text))) EXECUTE FUNCTION keep_customer_on_hold();
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON customers FOR EACH ROW WHEN (((old.customer_type IS DISTINCT FROM new.customer_type) OR (old.status IS DISTINCT FROM new.status) OR (old.held_at IS DISTINCT FROM new.held_at) OR (old.on_hold_at IS DISTINCT FROM new.on_hold_at) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION ledger_queue_version('customer-status');
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR DELETE ON customers FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('customer-status');
CREATE TRIGGER search_changed AFTER UPDATE ON customers FOR EACH ROW WHEN ((old.updated_at IS DISTINCT FROM new.updated_at)) EXECUTE FUNCTION queue_search_keys('CUSTOMER');
CREATE TRIGGER search_new AFTER INSERT OR DELETE ON customers FOR EACH ROW EXECUTE FUNCTION queue_search_keys('CUSTOMER');
ALTER TABLE ONLY customers
    ADD CONSTRAINT customers_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON customers USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE customers TO causeway_service;

CREATE TABLE data_keys (
    id uuid NOT NULL,
    purpose text NOT NULL,
    encrypted_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    generation smallint DEFAULT 1 NOT NULL,
    CONSTRAINT data_key_purpose_known CHECK ((purpose = ANY (ARRAY['DATA'::text, 'INDEX'::text])))
);
ALTER TABLE ONLY data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (id, purpose);
CREATE UNIQUE INDEX data_key_one_index_key ON data_keys USING btree (purpose) WHERE (purpose = 'INDEX'::text);
GRANT SELECT,INSERT ON TABLE data_keys TO causeway_service;
GRANT UPDATE(encrypted_key) ON TABLE data_keys TO causeway_service;

CREATE TABLE documents (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    holder_type text NOT NULL,
    holder_id uuid NOT NULL,
    document_type text NOT NULL,
    side text NOT NULL,
    country text NOT NULL,
    details jsonb NOT NULL,
    blob_id uuid NOT NULL,
    content_type text NOT NULL,
    size bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    submitted_at timestamp with time zone,
    superseded_by uuid,
    CONSTRAINT document_content_type_known CHECK ((content_type = ANY (ARRAY['application/pdf'::text, 'image/jpeg'::text, 'image/png'::text]))),
    CONSTRAINT document_holder_type_known CHECK ((holder_type = ANY (ARRAY['CUSTOMER'::text, 'BENEFICIAL_OWNER'::text]))),
    CONSTRAINT document_side_known CHECK ((side = ANY (ARRAY[''::text, 'FRONT'::text, 'BACK'::text]))),
    CONSTRAINT document_size_positive CHECK ((size > 0)),
    CONSTRAINT document_superseded_was_submitted CHECK (((superseded_by IS NULL) OR (submitted_at IS NOT NULL)))
);
ALTER TABLE ONLY documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX document_blob_unique ON documents USING btree (platform_id, blob_id);
CREATE INDEX documents_by_holder ON documents USING btree (platform_id, holder_id, id) WHERE (holder_id IS NOT NULL);
ALTER TABLE ONLY documents
    ADD CONSTRAINT documents_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON documents USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE documents TO causeway_service;

CREATE TABLE end_user_terms (
    version text NOT NULL,
    url text NOT NULL,
    set_at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    person_id uuid,
    CONSTRAINT end_user_terms_version_length CHECK (((length(version) >= 1) AND (length(version) <= 64)))
);
ALTER TABLE ONLY end_user_terms
    ADD CONSTRAINT end_user_terms_pkey PRIMARY KEY (version);
GRANT SELECT,INSERT ON TABLE end_user_terms TO causeway_service;

CREATE TABLE evm_addresses (
    connection text NOT NULL,
    address bytea NOT NULL,
    platform_id uuid NOT NULL,
    reference text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    account_id uuid
);
ALTER TABLE ONLY evm_addresses
    ADD CONSTRAINT evm_address_reference_unique UNIQUE (connection, platform_id, reference);
ALTER TABLE ONLY evm_addresses
    ADD CONSTRAINT evm_addresses_pkey PRIMARY KEY (connection, address);
CREATE INDEX evm_addresses_of_quotes ON evm_addresses USING btree (connection, created_at) WHERE (reference !~~ 'FUND-%'::text);
ALTER TABLE evm_addresses ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON evm_addresses USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE evm_addresses TO causeway_service;

CREATE TABLE evm_attempts (
    connection text NOT NULL,
    sender bytea NOT NULL,
    nonce bigint NOT NULL,
    number integer NOT NULL,
    hash bytea NOT NULL,
    raw bytea NOT NULL,
    max_fee numeric NOT NULL,
    max_priority_fee numeric NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY evm_attempts
    ADD CONSTRAINT evm_attempts_pkey PRIMARY KEY (connection, sender, nonce, number);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON evm_attempts FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY evm_attempts
    ADD CONSTRAINT evm_attempt_transaction_fkey FOREIGN KEY (connection, sender, nonce) REFERENCES evm_transactions(connection, sender, nonce);
GRANT SELECT,INSERT ON TABLE evm_attempts TO causeway_service;

CREATE TABLE evm_blocks (
    connection text NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL
);
ALTER TABLE ONLY evm_blocks
    ADD CONSTRAINT evm_blocks_pkey PRIMARY KEY (connection, number);
GRANT SELECT,INSERT,DELETE ON TABLE evm_blocks TO causeway_service;

CREATE TABLE evm_chains (
    connection text NOT NULL,
    chain_id numeric NOT NULL,
    wallet bytea NOT NULL,
    "position" bigint NOT NULL,
    position_hash bytea NOT NULL,
    event_number bigint DEFAULT 0 NOT NULL,
    fee_wei numeric DEFAULT 0 NOT NULL,
    fee_gwei bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY evm_chains
    ADD CONSTRAINT evm_chains_pkey PRIMARY KEY (connection);
GRANT SELECT,INSERT,UPDATE ON TABLE evm_chains TO causeway_service;

CREATE TABLE evm_deposits (
    connection text NOT NULL,
    partner_id text NOT NULL,
    platform_id uuid NOT NULL,
    reference text NOT NULL,
    address bytea NOT NULL,
    transaction_hash bytea NOT NULL,
    log_index bigint NOT NULL,
    block_number bigint NOT NULL,
    block_hash bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    currency text NOT NULL,
    amount numeric NOT NULL,
    payer bytea NOT NULL,
    reversed boolean DEFAULT false NOT NULL,
    oversized boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY evm_deposits
    ADD CONSTRAINT evm_deposits_pkey PRIMARY KEY (connection, partner_id);
CREATE INDEX evm_deposits_by_block ON evm_deposits USING btree (connection, block_number);
CREATE INDEX evm_deposits_by_transaction ON evm_deposits USING btree (connection, transaction_hash);
CREATE INDEX evm_deposits_oversized ON evm_deposits USING btree (connection, block_number) WHERE oversized;
ALTER TABLE evm_deposits ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON evm_deposits USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE evm_deposits TO causeway_service;

CREATE TABLE evm_events (
    connection text NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    platform_id uuid,
    partner_id text NOT NULL,
    receipt text NOT NULL,
    subject uuid,
    reference text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    payer bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    memo text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    sent numeric DEFAULT 0 NOT NULL,
    arrived numeric DEFAULT 0 NOT NULL,
    taken numeric DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY evm_events
    ADD CONSTRAINT evm_events_pkey PRIMARY KEY (connection, number);
ALTER TABLE evm_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON evm_events USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE evm_events TO causeway_service;

CREATE TABLE evm_holdings (
    connection text NOT NULL,
    currency text NOT NULL,
    address bytea NOT NULL,
    received numeric DEFAULT 0 NOT NULL,
    sent numeric DEFAULT 0 NOT NULL,
    claimed_at timestamp with time zone,
    wallet boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY evm_holdings
    ADD CONSTRAINT evm_holdings_pkey PRIMARY KEY (connection, currency, address);
CREATE INDEX evm_holdings_of_some_money ON evm_holdings USING btree (connection, currency, ((received - sent))) WHERE (received <> sent);
CREATE INDEX evm_holdings_to_sweep ON evm_holdings USING btree (connection, currency, ((received - sent))) WHERE ((received <> sent) AND (NOT wallet));
GRANT SELECT,INSERT,UPDATE ON TABLE evm_holdings TO causeway_service;

CREATE TABLE evm_reference_positions (
    connection text NOT NULL,
    platform_id uuid NOT NULL,
    quotes boolean NOT NULL,
    last uuid NOT NULL
);
ALTER TABLE ONLY evm_reference_positions
    ADD CONSTRAINT evm_reference_positions_pkey PRIMARY KEY (connection, platform_id, quotes);
ALTER TABLE evm_reference_positions ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON evm_reference_positions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE evm_reference_positions TO causeway_service;

CREATE TABLE evm_transactions (
    connection text NOT NULL,
    sender bytea NOT NULL,
    nonce bigint NOT NULL,
    path bigint[] NOT NULL,
    purpose text NOT NULL,
    subject uuid NOT NULL,
    platform_id uuid,
    target bytea NOT NULL,
    value numeric NOT NULL,
    data bytea NOT NULL,
    gas_limit bigint NOT NULL,
    recipient bytea NOT NULL,
    currency text NOT NULL,
    amount numeric NOT NULL,
    state text NOT NULL,
    settled boolean DEFAULT false NOT NULL,
    hash bytea,
    block_number bigint,
    block_hash bytea,
    fee numeric,
    version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY evm_transactions
    ADD CONSTRAINT evm_transaction_subject_unique UNIQUE (connection, purpose, subject);
ALTER TABLE ONLY evm_transactions
    ADD CONSTRAINT evm_transactions_pkey PRIMARY KEY (connection, sender, nonce);
CREATE INDEX evm_transactions_by_block ON evm_transactions USING btree (connection, block_number) WHERE (block_number IS NOT NULL);
CREATE INDEX evm_transactions_pending ON evm_transactions USING btree (connection, sender, nonce) WHERE (state = 'PENDING'::text);
ALTER TABLE evm_transactions ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON evm_transactions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE evm_transactions TO causeway_service;

CREATE TABLE evm_wallets (
    chain_id numeric NOT NULL,
    address bytea NOT NULL,
    connection text NOT NULL,
    next_nonce bigint NOT NULL,
    turn uuid,
    turn_until timestamp with time zone
);
ALTER TABLE ONLY evm_wallets
    ADD CONSTRAINT evm_wallets_pkey PRIMARY KEY (chain_id, address);
GRANT SELECT,INSERT,UPDATE ON TABLE evm_wallets TO causeway_service;

CREATE TABLE export_parts (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    export_id uuid NOT NULL,
    number integer NOT NULL,
    size bigint NOT NULL,
    key bytea NOT NULL,
    CONSTRAINT export_part_not_empty CHECK ((size > 0))
);
ALTER TABLE ONLY export_parts
    ADD CONSTRAINT export_part_once UNIQUE (platform_id, export_id, number);
ALTER TABLE ONLY export_parts
    ADD CONSTRAINT export_parts_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE ONLY export_parts
    ADD CONSTRAINT export_part_export_fkey FOREIGN KEY (platform_id, export_id) REFERENCES exports(platform_id, id);
ALTER TABLE export_parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON export_parts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE export_parts TO causeway_service;
GRANT UPDATE(key) ON TABLE export_parts TO causeway_service;

CREATE TABLE exports (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    person_id uuid NOT NULL,
    actor text NOT NULL,
    format text NOT NULL,
    from_at timestamp with time zone,
    to_at timestamp with time zone,
    account text NOT NULL,
    currency text NOT NULL,
    file_name text NOT NULL,
    content_type text NOT NULL,
    state text NOT NULL,
    run integer NOT NULL,
    done bigint NOT NULL,
    total bigint NOT NULL,
    size bigint NOT NULL,
    problem text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT export_end CHECK (((ended_at IS NULL) = (state = ANY (ARRAY['WAITING'::text, 'RUNNING'::text])))),
    CONSTRAINT export_state_known CHECK ((state = ANY (ARRAY['WAITING'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text])))
);
ALTER TABLE ONLY exports
    ADD CONSTRAINT exports_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX exports_by_created_at ON exports USING btree (platform_id, created_at);
ALTER TABLE ONLY exports
    ADD CONSTRAINT exports_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE ONLY exports
    ADD CONSTRAINT exports_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE exports ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON exports USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE exports TO causeway_service;
GRANT UPDATE(state) ON TABLE exports TO causeway_service;
GRANT UPDATE(run) ON TABLE exports TO causeway_service;
GRANT UPDATE(done) ON TABLE exports TO causeway_service;
GRANT UPDATE(total) ON TABLE exports TO causeway_service;
GRANT UPDATE(size) ON TABLE exports TO causeway_service;
GRANT UPDATE(problem) ON TABLE exports TO causeway_service;
GRANT UPDATE(updated_at) ON TABLE exports TO causeway_service;
GRANT UPDATE(ended_at) ON TABLE exports TO causeway_service;

CREATE TABLE external_accounts (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid,
    platform_account_id text DEFAULT ''::text NOT NULL,
    currency text NOT NULL,
    account_type text NOT NULL,
    fields jsonb NOT NULL,
    beneficiary jsonb,
    rails text[] DEFAULT '{}'::text[] NOT NULL,
    status text NOT NULL,
    default_uma_deposit boolean DEFAULT false NOT NULL,
    verification text DEFAULT ''::text NOT NULL,
    verified_name text DEFAULT ''::text NOT NULL,
    fingerprint text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    seal text DEFAULT ''::text NOT NULL,
    ownership_type text DEFAULT ''::text NOT NULL,
    vasp_name text DEFAULT ''::text NOT NULL,
    ownership jsonb,
    trusted_at timestamp with time zone
);
ALTER TABLE external_accounts
    ADD CONSTRAINT external_accounts_ownership_type CHECK ((ownership_type = ANY (ARRAY[''::text, 'FIRST_PARTY'::text, 'THIRD_PARTY'::text]))) NOT VALID;
ALTER TABLE ONLY external_accounts
    ADD CONSTRAINT external_accounts_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX external_account_one_uma_default ON external_accounts USING btree (platform_id, customer_id) WHERE (default_uma_deposit AND (deleted_at IS NULL));
CREATE UNIQUE INDEX external_account_unique_while_active ON external_accounts USING btree (platform_id, COALESCE(customer_id, '00000000-0000-0000-0000-000000000000'::uuid), fingerprint) WHERE (deleted_at IS NULL);
CREATE INDEX external_accounts_by_customer ON external_accounts USING btree (platform_id, customer_id, id) WHERE (customer_id IS NOT NULL);
CREATE INDEX external_accounts_by_platform ON external_accounts USING btree (platform_id, id) WHERE (customer_id IS NULL);
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON external_accounts FOR EACH ROW WHEN ((((((((((((old.customer_id IS DISTINCT FROM new.customer_id) OR (old.platform_account_id IS DISTINCT FROM new.platform_account_id)) OR (old.currency IS DISTINCT FROM new.currency)) OR (old.account_type IS DISTINCT FROM new.account_type)) OR (old.rails IS DISTINCT FROM new.rails)) OR (old.status IS DISTINCT FROM new.status)) OR (old.default_uma_deposit IS DISTINCT FROM new.default_uma_deposit)) OR (old.verification IS DISTINCT FROM new.verification)) OR (old.deleted_at IS DISTINCT FROM new.deleted_at)) OR (old.trusted_at IS DISTINCT FROM new.trusted_at)) OR (old.seal IS DISTINCT FROM new.seal))) EXECUTE FUNCTION ledger_queue_version('external-account');
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR DELETE ON external_accounts FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('external-account');
CREATE TRIGGER search_changed AFTER UPDATE ON external_accounts FOR EACH ROW WHEN ((old.updated_at IS DISTINCT FROM new.updated_at)) EXECUTE FUNCTION queue_search_keys('EXTERNAL_ACCOUNT');
CREATE TRIGGER search_new AFTER INSERT OR DELETE ON external_accounts FOR EACH ROW EXECUTE FUNCTION queue_search_keys('EXTERNAL_ACCOUNT');
ALTER TABLE ONLY external_accounts
    ADD CONSTRAINT external_accounts_platform_id_customer_id_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY external_accounts
    ADD CONSTRAINT external_accounts_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE external_accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON external_accounts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE external_accounts TO causeway_service;

CREATE TABLE gl_journal_lines (
    platform_id uuid NOT NULL,
    number text NOT NULL,
    line smallint NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    debit numeric NOT NULL,
    credit numeric NOT NULL,
    CONSTRAINT gl_journal_line_one_side CHECK (((LEAST(debit, credit) = (0)::numeric) AND (GREATEST(debit, credit) > (0)::numeric)))
);
ALTER TABLE ONLY gl_journal_lines
    ADD CONSTRAINT gl_journal_lines_pkey PRIMARY KEY (platform_id, number, line);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON gl_journal_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY gl_journal_lines
    ADD CONSTRAINT gl_journal_line_journal_fkey FOREIGN KEY (platform_id, number) REFERENCES gl_journals(platform_id, number);
ALTER TABLE gl_journal_lines ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON gl_journal_lines USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE gl_journal_lines TO causeway_service;

CREATE TABLE gl_journals (
    platform_id uuid NOT NULL,
    number text NOT NULL,
    span text NOT NULL,
    from_day date NOT NULL,
    to_day date NOT NULL,
    currency text NOT NULL,
    revision integer NOT NULL,
    mapping_version integer NOT NULL,
    made_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    person_id uuid,
    CONSTRAINT gl_journal_days_in_order CHECK ((from_day < to_day)),
    CONSTRAINT gl_journal_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT gl_journal_revision_positive CHECK ((revision > 0))
);
ALTER TABLE ONLY gl_journals
    ADD CONSTRAINT gl_journal_revision_unique UNIQUE (platform_id, from_day, to_day, currency, revision);
ALTER TABLE ONLY gl_journals
    ADD CONSTRAINT gl_journals_pkey PRIMARY KEY (platform_id, number);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON gl_journals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON gl_journals REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('gl-journal', 'number');
ALTER TABLE gl_journals ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON gl_journals USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE gl_journals TO causeway_service;

CREATE TABLE idempotency_keys (
    platform_id uuid NOT NULL,
    token_id uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_key_status_below_500 CHECK (((status >= 200) AND (status <= 499)))
);
ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (platform_id, key);
CREATE INDEX idempotency_keys_by_created_at ON idempotency_keys USING btree (platform_id, created_at);
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON idempotency_keys USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE idempotency_keys TO causeway_service;

CREATE TABLE identity_messages (
    platform_id uuid NOT NULL,
    id text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT identity_message_id_length CHECK (((length(id) >= 1) AND (length(id) <= 256)))
);
ALTER TABLE ONLY identity_messages
    ADD CONSTRAINT identity_messages_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX identity_messages_by_received_at ON identity_messages USING btree (platform_id, received_at);
ALTER TABLE ONLY identity_messages
    ADD CONSTRAINT identity_messages_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE identity_messages ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON identity_messages USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE identity_messages TO causeway_service;

CREATE TABLE internal_accounts (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid,
    currency text NOT NULL,
    account_type text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    reference text NOT NULL,
    instructions text NOT NULL,
    private_enabled boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY internal_accounts
    ADD CONSTRAINT internal_accounts_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX internal_account_owner_currency_type_unique ON internal_accounts USING btree (platform_id, COALESCE(customer_id, '00000000-0000-0000-0000-000000000000'::uuid), currency, account_type);
CREATE UNIQUE INDEX internal_account_reference_unique ON internal_accounts USING btree (platform_id, reference) WHERE (reference <> ''::text);
CREATE INDEX internal_accounts_by_owner ON internal_accounts USING btree (platform_id, (
CASE
    WHEN (customer_id IS NULL) THEN '00000000-0000-0000-0000-000000000000'::uuid
    ELSE customer_id
END), currency, account_type);
ALTER TABLE ONLY internal_accounts
    ADD CONSTRAINT internal_accounts_platform_id_customer_id_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY internal_accounts
    ADD CONSTRAINT internal_accounts_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE internal_accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON internal_accounts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE internal_accounts TO causeway_service;

CREATE TABLE invitations (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    code text NOT NULL,
    url text NOT NULL,
    inviter_id uuid NOT NULL,
    inviter_uma text NOT NULL,
    first_name text NOT NULL,
    amount_minor bigint NOT NULL,
    amount_currency text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    claimed_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    ends_at timestamp with time zone,
    invitee_platform_id uuid,
    invitee_id uuid,
    invitee_uma text DEFAULT ''::text NOT NULL,
    CONSTRAINT invitation_claimed_by_someone CHECK (((status = 'CLAIMED'::text) = ((claimed_at IS NOT NULL) AND (invitee_id IS NOT NULL) AND (invitee_platform_id IS NOT NULL)))),
    CONSTRAINT invitation_status_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'CLAIMED'::text, 'CANCELLED'::text])))
);
ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX invitation_code_unique ON invitations USING btree (code);
CREATE INDEX invitations_by_end ON invitations USING btree (platform_id, ends_at) WHERE (ends_at IS NOT NULL);
CREATE INDEX invitations_by_invitee ON invitations USING btree (invitee_platform_id, invitee_id) WHERE (invitee_id IS NOT NULL);
CREATE INDEX invitations_by_inviter ON invitations USING btree (platform_id, inviter_id);
CREATE INDEX invitations_without_end ON invitations USING btree (platform_id, created_at) WHERE (ends_at IS NULL);
ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitation_inviter_fkey FOREIGN KEY (platform_id, inviter_id) REFERENCES customers(platform_id, id);
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON invitations USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE invitations TO causeway_service;

CREATE TABLE job_actions (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    job_id uuid NOT NULL,
    action text NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    at timestamp with time zone NOT NULL,
    step text NOT NULL,
    subjects uuid[] NOT NULL,
    attempts integer NOT NULL,
    last_error text NOT NULL,
    person_id uuid,
    CONSTRAINT job_action_known CHECK ((action = ANY (ARRAY['RETRY'::text, 'DISCARD'::text])))
);
ALTER TABLE ONLY job_actions
    ADD CONSTRAINT job_actions_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX job_actions_by_actor ON job_actions USING btree (platform_id, actor, id);
CREATE INDEX job_actions_by_job ON job_actions USING btree (platform_id, job_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON job_actions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE job_actions ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON job_actions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE job_actions TO causeway_service;

CREATE TABLE jobs (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    step text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    subjects uuid[] NOT NULL,
    earlier_attempts integer DEFAULT 0 NOT NULL,
    failed_at timestamp with time zone,
    last_error text DEFAULT ''::text NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='500');
ALTER TABLE ONLY jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX jobs_by_step_platform_due ON jobs USING btree (step, platform_id, due_at);
CREATE INDEX jobs_due ON jobs USING btree (step, due_at);
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON jobs USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE jobs TO causeway_service;

CREATE TABLE kyc_links (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    redirect_uri text NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    opened_at timestamp with time zone,
    session_hash bytea,
    session_expires_at timestamp with time zone,
    CONSTRAINT kyc_link_session_begins_when_opened CHECK ((((opened_at IS NULL) = (session_hash IS NULL)) AND ((opened_at IS NULL) = (session_expires_at IS NULL))))
);
ALTER TABLE ONLY kyc_links
    ADD CONSTRAINT kyc_links_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX kyc_link_session_unique ON kyc_links USING btree (platform_id, session_hash) WHERE (session_hash IS NOT NULL);
CREATE UNIQUE INDEX kyc_link_token_unique ON kyc_links USING btree (platform_id, token_hash);
CREATE INDEX kyc_links_by_customer ON kyc_links USING btree (platform_id, customer_id);
ALTER TABLE ONLY kyc_links
    ADD CONSTRAINT kyc_link_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY kyc_links
    ADD CONSTRAINT kyc_links_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE kyc_links ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON kyc_links USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE kyc_links TO causeway_service;

CREATE TABLE ledger_accounts (
    platform_id uuid NOT NULL,
    id bigint NOT NULL,
    path text NOT NULL,
    currency text NOT NULL,
    class text NOT NULL,
    no_overdraft boolean NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT ledger_account_has_class CHECK ((class = ANY (ARRAY['asset'::text, 'liability'::text, 'equity'::text, 'income'::text, 'expense'::text, 'trading'::text])))
);
ALTER TABLE ledger_accounts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger_accounts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY ledger_accounts
    ADD CONSTRAINT ledger_account_path_and_currency_unique UNIQUE (platform_id, path, currency);
ALTER TABLE ONLY ledger_accounts
    ADD CONSTRAINT ledger_accounts_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX ledger_accounts_by_path ON ledger_accounts USING btree (platform_id, path COLLATE "C", currency COLLATE "C") WHERE (path IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_accounts FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
ALTER TABLE ledger_accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_accounts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_accounts TO causeway_service;

CREATE TABLE ledger_added_accounts (
    platform_id uuid NOT NULL,
    path text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    retired boolean NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    note text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT ledger_added_account_description_length CHECK ((length(description) <= 500)),
    CONSTRAINT ledger_added_account_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT ledger_added_account_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT ledger_added_account_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT ledger_added_account_two_tokens CHECK ((approver_token_id <> token_id)),
    CONSTRAINT ledger_added_account_version_positive CHECK ((version > 0))
);
ALTER TABLE ONLY ledger_added_accounts
    ADD CONSTRAINT ledger_added_accounts_pkey PRIMARY KEY (platform_id, path, version);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_added_accounts FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_added_accounts REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('added-account', 'path', 'version');
ALTER TABLE ledger_added_accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_added_accounts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_added_accounts TO causeway_service;

CREATE TABLE ledger_archived_months (
    month date NOT NULL,
    archived_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ledger_archived_month_is_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric))
);
ALTER TABLE ONLY ledger_archived_months
    ADD CONSTRAINT ledger_archived_months_pkey PRIMARY KEY (month);
GRANT SELECT ON TABLE ledger_archived_months TO causeway_service;

CREATE TABLE ledger_authorisations (
    platform_id uuid NOT NULL,
    posting_id uuid NOT NULL,
    token_id uuid,
    note text NOT NULL,
    authorised_at timestamp with time zone NOT NULL,
    actor text DEFAULT ''::text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT ledger_authorisation_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT ledger_authorisation_note_length CHECK (((length(btrim(note)) >= 1) AND (length(btrim(note)) <= 500))),
    CONSTRAINT ledger_authorisation_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ONLY ledger_authorisations
    ADD CONSTRAINT ledger_authorisations_pkey PRIMARY KEY (platform_id, posting_id);
CREATE INDEX ledger_authorisations_by_time ON ledger_authorisations USING btree (platform_id, authorised_at);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_authorisations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_authorisations REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('authorisation', 'posting_id');
ALTER TABLE ONLY ledger_authorisations
    ADD CONSTRAINT ledger_authorisation_posting_fkey FOREIGN KEY (platform_id, posting_id) REFERENCES ledger_posting_ids(platform_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ledger_authorisations ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_authorisations USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_authorisations TO causeway_service;

CREATE TABLE ledger_backdated_entries (
    platform_id uuid NOT NULL,
    seq bigint NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    debit_account_id bigint NOT NULL,
    credit_account_id bigint NOT NULL,
    amount bigint NOT NULL,
    entry_no smallint NOT NULL,
    gap_class smallint GENERATED ALWAYS AS (LEAST(33, length(ltrim((((floor(abs(EXTRACT(epoch FROM (recorded_at - effective_at)))))::bigint)::bit(48))::text, '0'::text)))) STORED NOT NULL,
    CONSTRAINT ledger_backdated_entry_gap_over_10s CHECK ((((recorded_at - effective_at) > '00:00:10'::interval) OR ((recorded_at - effective_at) < '-00:00:10'::interval)))
);
ALTER TABLE ONLY ledger_backdated_entries
    ADD CONSTRAINT ledger_backdated_entries_pkey PRIMARY KEY (platform_id, seq, entry_no);
CREATE INDEX ledger_backdated_entries_by_gap ON ledger_backdated_entries USING btree (platform_id, gap_class, LEAST(effective_at, recorded_at));
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_backdated_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
ALTER TABLE ledger_backdated_entries ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_backdated_entries USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_backdated_entries TO causeway_service;

CREATE TABLE ledger_balance_snapshots (
    platform_id uuid NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    balance numeric NOT NULL,
    earliest_effective_at timestamp with time zone NOT NULL,
    latest_effective_at timestamp with time zone NOT NULL,
    debit_total numeric NOT NULL
);
ALTER TABLE ONLY ledger_balance_snapshots
    ADD CONSTRAINT ledger_balance_snapshots_pkey PRIMARY KEY (platform_id, account_id, seq);
ALTER TABLE ONLY ledger_balance_snapshots
    ADD CONSTRAINT ledger_balance_snapshot_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts(platform_id, id);
ALTER TABLE ledger_balance_snapshots ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_balance_snapshots USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_balance_snapshots TO causeway_service;

CREATE TABLE ledger_balances (
    platform_id uuid NOT NULL,
    account_id bigint NOT NULL,
    balance bigint DEFAULT 0 NOT NULL,
    CONSTRAINT ledger_balance_not_negative CHECK ((balance >= 0))
)
WITH (fillfactor='70');
ALTER TABLE ONLY ledger_balances
    ADD CONSTRAINT ledger_balances_pkey PRIMARY KEY (platform_id, account_id);
ALTER TABLE ONLY ledger_balances
    ADD CONSTRAINT ledger_balance_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts(platform_id, id);
ALTER TABLE ledger_balances ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_balances USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE ledger_balances TO causeway_service;

CREATE TABLE ledger_checkpoint_publications (
    platform_id uuid NOT NULL,
    log text NOT NULL,
    size bigint NOT NULL,
    previous_size bigint NOT NULL,
    published_at timestamp with time zone NOT NULL,
    place text NOT NULL,
    CONSTRAINT ledger_checkpoint_publication_covers CHECK ((previous_size < size)),
    CONSTRAINT ledger_checkpoint_publication_log_known CHECK ((log = ANY (ARRAY['POSTINGS'::text, 'EVIDENCE'::text])))
);
ALTER TABLE ONLY ledger_checkpoint_publications
    ADD CONSTRAINT ledger_checkpoint_publications_pkey PRIMARY KEY (platform_id, log, size);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_checkpoint_publications FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ledger_checkpoint_publications ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_checkpoint_publications USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_checkpoint_publications TO causeway_service;

CREATE TABLE ledger_clocks (
    platform_id uuid NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    recorded_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    month_end timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    closed_before timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    soft_closed_before timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
)
WITH (fillfactor='20');
ALTER TABLE ONLY ledger_clocks
    ADD CONSTRAINT ledger_clocks_pkey PRIMARY KEY (platform_id);
CREATE TRIGGER ledger_clock_check_period_change BEFORE UPDATE OF closed_before, soft_closed_before ON ledger_clocks FOR EACH ROW EXECUTE FUNCTION ledger_check_period_change();
ALTER TABLE ledger_clocks ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_clocks USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE ledger_clocks TO causeway_service;

CREATE TABLE ledger_closing_lines (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    account_id bigint NOT NULL,
    opening numeric NOT NULL,
    debits numeric NOT NULL,
    credits numeric NOT NULL,
    closing numeric NOT NULL
);
ALTER TABLE ONLY ledger_closing_lines
    ADD CONSTRAINT ledger_closing_lines_pkey PRIMARY KEY (platform_id, month, account_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_closing_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_closing_lines
    ADD CONSTRAINT ledger_closing_line_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts(platform_id, id);
ALTER TABLE ledger_closing_lines ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_closing_lines USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_closing_lines TO causeway_service;

CREATE TABLE ledger_closings (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    closed_at timestamp with time zone NOT NULL,
    token_id uuid,
    note text NOT NULL,
    seq bigint NOT NULL,
    digest bytea,
    next_month_seq bigint NOT NULL,
    log_checkpoint text,
    CONSTRAINT ledger_closing_digest_is_sha256 CHECK ((length(digest) = 32)),
    CONSTRAINT ledger_closing_digest_of_last_posting CHECK (((seq = 0) = (digest IS NULL))),
    CONSTRAINT ledger_closing_month_is_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT ledger_closing_note_length CHECK ((length(note) <= 500))
);
ALTER TABLE ONLY ledger_closings
    ADD CONSTRAINT ledger_closings_pkey PRIMARY KEY (platform_id, month);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_closings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_closings REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('closing', 'month');
ALTER TABLE ledger_closings ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_closings USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_closings TO causeway_service;

CREATE TABLE ledger_entries (
    platform_id uuid NOT NULL,
    seq bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    debit_account_id bigint NOT NULL,
    credit_account_id bigint NOT NULL,
    amount bigint NOT NULL,
    entry_no smallint NOT NULL,
    currency text NOT NULL,
    CONSTRAINT ledger_entry_accounts_differ CHECK ((debit_account_id <> credit_account_id)),
    CONSTRAINT ledger_entry_amount_positive CHECK ((amount > 0))
)
PARTITION BY RANGE (recorded_at);
CREATE INDEX ledger_entries_by_credit_account ON ONLY ledger_entries USING btree (platform_id, credit_account_id, seq);
CREATE INDEX ledger_entries_by_debit_account ON ONLY ledger_entries USING btree (platform_id, debit_account_id, seq);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER ledger_entry_currency_matches_accounts AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS new_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entry_currencies();
ALTER TABLE ledger_entries ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_entries USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_entries TO causeway_service;

CREATE TABLE ledger_evidence (
    platform_id uuid NOT NULL,
    seq bigint NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    kinds text[] NOT NULL,
    subjects text[] NOT NULL,
    hashes bytea[] NOT NULL,
    hints bytea[] NOT NULL,
    CONSTRAINT ledger_evidence_seq_positive CHECK ((seq > 0))
);
ALTER TABLE ONLY ledger_evidence
    ADD CONSTRAINT ledger_evidence_pkey PRIMARY KEY (platform_id, seq);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_evidence FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ledger_evidence ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_evidence USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_evidence TO causeway_service;

CREATE TABLE ledger_evidence_checkpoints (
    platform_id uuid NOT NULL,
    size bigint NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    root_hash bytea NOT NULL,
    signed_note text NOT NULL,
    previous_size bigint NOT NULL,
    CONSTRAINT ledger_evidence_checkpoint_root_is_sha256 CHECK ((length(root_hash) = 32)),
    CONSTRAINT ledger_evidence_checkpoint_size_positive CHECK ((size > 0))
);
ALTER TABLE ONLY ledger_evidence_checkpoints
    ADD CONSTRAINT ledger_evidence_checkpoints_pkey PRIMARY KEY (platform_id, size);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_evidence_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ledger_evidence_checkpoints ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_evidence_checkpoints USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_evidence_checkpoints TO causeway_service;

CREATE TABLE ledger_evidence_queue (
    platform_id uuid NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    queued_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY ledger_evidence_queue
    ADD CONSTRAINT ledger_evidence_queue_pkey PRIMARY KEY (platform_id, kind, subject);
ALTER TABLE ledger_evidence_queue ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_evidence_queue USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE ledger_evidence_queue TO causeway_service;
GRANT UPDATE(queued_at) ON TABLE ledger_evidence_queue TO causeway_service;

CREATE TABLE ledger_evidence_state (
    platform_id uuid NOT NULL,
    size bigint DEFAULT 0 NOT NULL,
    partial_tiles bytea DEFAULT '\x'::bytea NOT NULL,
    published_size bigint DEFAULT 0 NOT NULL,
    publish_lease_until timestamp with time zone,
    posting_seq bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY ledger_evidence_state
    ADD CONSTRAINT ledger_evidence_state_pkey PRIMARY KEY (platform_id);
ALTER TABLE ledger_evidence_state ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_evidence_state USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE ledger_evidence_state TO causeway_service;

CREATE TABLE ledger_exchange_origins (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    run integer NOT NULL,
    origin text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    trades bigint NOT NULL
);
ALTER TABLE ONLY ledger_exchange_origins
    ADD CONSTRAINT ledger_exchange_origins_pkey PRIMARY KEY (platform_id, month, run, origin, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_exchange_origins FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_exchange_origins
    ADD CONSTRAINT ledger_exchange_origins_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_exchange_origins ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_exchange_origins USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_exchange_origins TO causeway_service;

CREATE TABLE ledger_exchange_positions (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    run integer NOT NULL,
    currency text NOT NULL,
    quantity bigint NOT NULL,
    cost bigint NOT NULL,
    rate text NOT NULL,
    rate_at timestamp with time zone,
    rate_source text NOT NULL,
    value bigint NOT NULL,
    unrealised bigint NOT NULL,
    carried bigint NOT NULL
);
ALTER TABLE ONLY ledger_exchange_positions
    ADD CONSTRAINT ledger_exchange_positions_pkey PRIMARY KEY (platform_id, month, run, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_exchange_positions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_exchange_positions
    ADD CONSTRAINT ledger_exchange_positions_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_exchange_positions ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_exchange_positions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_exchange_positions TO causeway_service;

CREATE TABLE ledger_exchange_results (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    run integer NOT NULL,
    functional_currency text NOT NULL,
    keep_unrealised boolean NOT NULL,
    covers_from timestamp with time zone NOT NULL,
    rates_kept_at timestamp with time zone NOT NULL,
    opening_rates_kept_at timestamp with time zone NOT NULL,
    opening_result bigint NOT NULL,
    cash bigint NOT NULL,
    opening_value bigint NOT NULL,
    closing_value bigint NOT NULL,
    rate_changes bigint NOT NULL,
    translated bigint
);
ALTER TABLE ONLY ledger_exchange_results
    ADD CONSTRAINT ledger_exchange_results_pkey PRIMARY KEY (platform_id, month, run);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_exchange_results FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_exchange_results
    ADD CONSTRAINT ledger_exchange_results_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_exchange_results ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_exchange_results USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_exchange_results TO causeway_service;

CREATE TABLE ledger_exchange_translations (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    run integer NOT NULL,
    account text NOT NULL,
    currency text NOT NULL,
    quantity bigint NOT NULL,
    value bigint NOT NULL,
    postings bigint NOT NULL,
    remainder text
);
ALTER TABLE ONLY ledger_exchange_translations
    ADD CONSTRAINT ledger_exchange_translations_pkey PRIMARY KEY (platform_id, month, run, account, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_exchange_translations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_exchange_translations
    ADD CONSTRAINT ledger_exchange_translations_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_exchange_translations ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_exchange_translations USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_exchange_translations TO causeway_service;

CREATE TABLE ledger_gl_mapping_lines (
    platform_id uuid NOT NULL,
    version integer NOT NULL,
    path text NOT NULL,
    currency text NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    CONSTRAINT ledger_gl_mapping_line_code_length CHECK (((length(code) >= 1) AND (length(code) <= 40))),
    CONSTRAINT ledger_gl_mapping_line_name_length CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);
ALTER TABLE ONLY ledger_gl_mapping_lines
    ADD CONSTRAINT ledger_gl_mapping_lines_pkey PRIMARY KEY (platform_id, version, path, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_gl_mapping_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_gl_mapping_lines
    ADD CONSTRAINT ledger_gl_mapping_line_version_fkey FOREIGN KEY (platform_id, version) REFERENCES ledger_gl_mappings(platform_id, version);
ALTER TABLE ledger_gl_mapping_lines ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_gl_mapping_lines USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_gl_mapping_lines TO causeway_service;

CREATE TABLE ledger_gl_mappings (
    platform_id uuid NOT NULL,
    version integer NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    note text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT ledger_gl_mapping_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT ledger_gl_mapping_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT ledger_gl_mapping_two_tokens CHECK ((approver_token_id <> token_id)),
    CONSTRAINT ledger_gl_mapping_version_positive CHECK ((version > 0))
);
ALTER TABLE ONLY ledger_gl_mappings
    ADD CONSTRAINT ledger_gl_mappings_pkey PRIMARY KEY (platform_id, version);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_gl_mappings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_gl_mappings REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('gl-mapping', 'version');
ALTER TABLE ledger_gl_mappings ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_gl_mappings USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_gl_mappings TO causeway_service;

CREATE TABLE ledger_log_checkpoints (
    platform_id uuid NOT NULL,
    size bigint NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    root_hash bytea NOT NULL,
    signed_note text NOT NULL,
    previous_size bigint NOT NULL,
    CONSTRAINT ledger_log_checkpoint_root_is_sha256 CHECK ((length(root_hash) = 32)),
    CONSTRAINT ledger_log_checkpoint_size_positive CHECK ((size > 0))
);
ALTER TABLE ONLY ledger_log_checkpoints
    ADD CONSTRAINT ledger_log_checkpoints_pkey PRIMARY KEY (platform_id, size);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_log_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_log_checkpoints REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('checkpoint', 'size');
CREATE TRIGGER ledger_log_checkpoint_chain BEFORE INSERT ON ledger_log_checkpoints FOR EACH ROW EXECUTE FUNCTION ledger_chain_checkpoint();
ALTER TABLE ledger_log_checkpoints ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_log_checkpoints USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_log_checkpoints TO causeway_service;

CREATE TABLE ledger_log_keys (
    id uuid NOT NULL,
    public_key bytea NOT NULL,
    encrypted_key bytea NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone,
    CONSTRAINT ledger_log_key_is_ed25519 CHECK ((length(public_key) = 32)),
    CONSTRAINT ledger_log_key_validity_ordered CHECK ((valid_until >= valid_from))
);
ALTER TABLE ONLY ledger_log_keys
    ADD CONSTRAINT ledger_log_keys_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX ledger_log_key_one_active ON ledger_log_keys USING btree (((valid_until IS NULL))) WHERE (valid_until IS NULL);
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON ledger_log_keys FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT,INSERT ON TABLE ledger_log_keys TO causeway_service;
GRANT UPDATE(encrypted_key) ON TABLE ledger_log_keys TO causeway_service;
GRANT UPDATE(valid_until) ON TABLE ledger_log_keys TO causeway_service;

CREATE TABLE ledger_log_state (
    platform_id uuid NOT NULL,
    size bigint DEFAULT 0 NOT NULL,
    partial_tiles bytea DEFAULT '\x'::bytea NOT NULL,
    published_size bigint DEFAULT 0 NOT NULL,
    publish_lease_until timestamp with time zone
);
ALTER TABLE ONLY ledger_log_state ALTER COLUMN partial_tiles SET STORAGE EXTERNAL;
ALTER TABLE ONLY ledger_log_state
    ADD CONSTRAINT ledger_log_state_pkey PRIMARY KEY (platform_id);
ALTER TABLE ledger_log_state ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_log_state USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE ledger_log_state TO causeway_service;

CREATE TABLE ledger_log_tiles (
    platform_id uuid NOT NULL,
    tile_index bigint NOT NULL,
    level smallint NOT NULL,
    hashes bytea NOT NULL,
    CONSTRAINT ledger_log_tile_is_full CHECK ((length(hashes) = 8192))
);
ALTER TABLE ONLY ledger_log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;
ALTER TABLE ONLY ledger_log_tiles
    ADD CONSTRAINT ledger_log_tiles_pkey PRIMARY KEY (platform_id, level, tile_index);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_log_tiles FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ledger_log_tiles ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_log_tiles USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_log_tiles TO causeway_service;

CREATE TABLE ledger_month_end_runs (
    platform_id uuid NOT NULL,
    kind text NOT NULL,
    month date NOT NULL,
    run integer NOT NULL,
    ran_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    last_seq bigint NOT NULL,
    previous_month date,
    previous_run integer,
    posting_ids uuid[] NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT ledger_month_end_run_continues_earlier CHECK ((previous_month < month)),
    CONSTRAINT ledger_month_end_run_continues_whole CHECK (((previous_month IS NULL) = (previous_run IS NULL))),
    CONSTRAINT ledger_month_end_run_counts_from_one CHECK ((run > 0)),
    CONSTRAINT ledger_month_end_run_month_is_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT ledger_month_end_run_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ONLY ledger_month_end_runs
    ADD CONSTRAINT ledger_month_end_runs_pkey PRIMARY KEY (platform_id, kind, month, run);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_month_end_runs FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_month_end_runs REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('month-end-run', 'kind', 'month', 'run');
ALTER TABLE ONLY ledger_month_end_runs
    ADD CONSTRAINT ledger_month_end_runs_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_month_end_runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_month_end_runs USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_month_end_runs TO causeway_service;

CREATE TABLE ledger_months (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    first_seq bigint NOT NULL,
    CONSTRAINT ledger_month_is_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric))
);
ALTER TABLE ONLY ledger_months
    ADD CONSTRAINT ledger_months_pkey PRIMARY KEY (platform_id, month);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_months FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ledger_months ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_months USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_months TO causeway_service;

CREATE TABLE ledger_overdrafts (
    platform_id uuid NOT NULL,
    account text NOT NULL,
    currency text NOT NULL,
    overdrawn boolean NOT NULL,
    since timestamp with time zone NOT NULL,
    balance numeric NOT NULL,
    notified_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY ledger_overdrafts
    ADD CONSTRAINT ledger_overdrafts_pkey PRIMARY KEY (platform_id, account, currency);
ALTER TABLE ledger_overdrafts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_overdrafts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE ledger_overdrafts TO causeway_service;

CREATE TABLE ledger_payments_in_transit (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    run integer NOT NULL,
    transaction_id uuid NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    fee bigint NOT NULL
);
ALTER TABLE ONLY ledger_payments_in_transit
    ADD CONSTRAINT ledger_payments_in_transit_pkey PRIMARY KEY (platform_id, month, run, transaction_id, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_payments_in_transit FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_payments_in_transit
    ADD CONSTRAINT ledger_payments_in_transit_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_payments_in_transit ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_payments_in_transit USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_payments_in_transit TO causeway_service;

CREATE TABLE ledger_period_changes (
    platform_id uuid NOT NULL,
    id bigint NOT NULL,
    month date NOT NULL,
    action text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    token_id uuid,
    note text NOT NULL,
    actor text DEFAULT ''::text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT ledger_period_action_known CHECK ((action = ANY (ARRAY['soft-close'::text, 'reopen'::text, 'close'::text]))),
    CONSTRAINT ledger_period_change_month_is_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT ledger_period_change_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT ledger_period_change_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ledger_period_changes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ledger_period_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY ledger_period_changes
    ADD CONSTRAINT ledger_period_changes_pkey PRIMARY KEY (platform_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_period_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_period_changes REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('period-change', 'id');
ALTER TABLE ledger_period_changes ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_period_changes USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_period_changes TO causeway_service;

CREATE TABLE ledger_posting_ids (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    reverses uuid,
    seq bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY ledger_posting_ids
    ADD CONSTRAINT ledger_posting_ids_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX ledger_posting_reversed_once ON ledger_posting_ids USING btree (platform_id, reverses) WHERE (reverses IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_posting_ids FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER refuse_after_loss BEFORE INSERT ON ledger_posting_ids FOR EACH STATEMENT EXECUTE FUNCTION refuse_posting_after_loss();
ALTER TABLE ONLY ledger_posting_ids
    ADD CONSTRAINT ledger_posting_reverses_fkey FOREIGN KEY (platform_id, reverses) REFERENCES ledger_posting_ids(platform_id, id);
ALTER TABLE ledger_posting_ids ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_posting_ids USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_posting_ids TO causeway_service;

CREATE TABLE ledger_postings (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    seq bigint NOT NULL,
    transaction_id uuid,
    reverses uuid,
    effective_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    memo text NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT ledger_posting_digest_is_sha256 CHECK ((length(digest) = 32)),
    CONSTRAINT ledger_posting_reversal_has_original CHECK (((kind = 'reversal'::text) = (reverses IS NOT NULL))),
    CONSTRAINT ledger_posting_reverses_other CHECK ((reverses <> id))
)
PARTITION BY RANGE (recorded_at);
CREATE INDEX ledger_postings_by_memo ON ONLY ledger_postings USING btree (platform_id, memo, seq) WHERE ((transaction_id IS NULL) OR (kind = 'unmatched_assigned'::text));
CREATE INDEX ledger_postings_by_rare_kind ON ONLY ledger_postings USING btree (platform_id, kind, seq) WHERE (kind <> ALL (ARRAY['jit_received'::text, 'converted'::text, 'delivered'::text, 'deposit'::text, 'transfer_in'::text, 'transfer_out'::text]));
CREATE INDEX ledger_postings_by_reverses ON ONLY ledger_postings USING btree (platform_id, reverses, id) WHERE (reverses IS NOT NULL);
CREATE INDEX ledger_postings_by_transaction ON ONLY ledger_postings USING btree (platform_id, transaction_id, seq) WHERE (transaction_id IS NOT NULL);
CREATE TRIGGER add_waiting AFTER INSERT ON ledger_postings FOR EACH ROW WHEN ((new.kind = ANY (ARRAY['unmatched_received'::text, 'refund_failed'::text]))) EXECUTE FUNCTION add_unmatched_waiting();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
ALTER TABLE ledger_postings ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_postings USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_postings TO causeway_service;

CREATE TABLE ledger_proposals (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    action text NOT NULL,
    operation text NOT NULL,
    request text NOT NULL,
    status text NOT NULL,
    proposer_token_id uuid,
    proposer text NOT NULL,
    decider_token_id uuid,
    decider text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    result text DEFAULT ''::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error_message text DEFAULT ''::text NOT NULL,
    error_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    figures text DEFAULT ''::text NOT NULL,
    proposer_person_id uuid,
    decider_person_id uuid,
    CONSTRAINT ledger_proposal_has_decider CHECK ((((status <> 'PENDING'::text) = (decided_at IS NOT NULL)) AND ((status <> 'PENDING'::text) = ((decider_token_id IS NOT NULL) OR (decider <> ''::text))))),
    CONSTRAINT ledger_proposal_has_proposer CHECK (((proposer_token_id IS NOT NULL) OR (proposer <> ''::text))),
    CONSTRAINT ledger_proposal_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT ledger_proposal_status_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'EXECUTED'::text, 'REJECTED'::text]))),
    CONSTRAINT ledger_proposal_two_people CHECK (((status <> 'EXECUTED'::text) OR
CASE
    WHEN (num_nonnulls(decider_token_id, proposer_token_id) = 2) THEN (decider_token_id <> proposer_token_id)
    ELSE (decider <> proposer)
END))
);
ALTER TABLE ledger_proposals
    ADD CONSTRAINT ledger_proposal_two_persons CHECK (((status <> 'EXECUTED'::text) OR (decider_person_id IS NULL) OR (decider_person_id IS DISTINCT FROM proposer_person_id))) NOT VALID;
ALTER TABLE ONLY ledger_proposals
    ADD CONSTRAINT ledger_proposals_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX ledger_proposals_by_decision ON ledger_proposals USING btree (platform_id, decided_at) WHERE (decided_at IS NOT NULL);
CREATE INDEX ledger_proposals_pending ON ledger_proposals USING btree (platform_id, expires_at) WHERE (status = 'PENDING'::text);
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_proposals REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('proposal', 'id');
CREATE TRIGGER ledger_evidence_decision AFTER INSERT OR UPDATE ON ledger_proposals FOR EACH ROW WHEN ((new.status <> 'PENDING'::text)) EXECUTE FUNCTION ledger_queue_decision();
CREATE TRIGGER ledger_proposal_check_change BEFORE UPDATE ON ledger_proposals FOR EACH ROW EXECUTE FUNCTION ledger_check_proposal_change();
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON ledger_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_proposals
    ADD CONSTRAINT ledger_proposals_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_proposals ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_proposals USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(status) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(decider_token_id) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(decider) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(note) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(result) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(error_code) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(error_message) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(error_at) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(decided_at) ON TABLE ledger_proposals TO causeway_service;
GRANT UPDATE(decider_person_id) ON TABLE ledger_proposals TO causeway_service;

CREATE TABLE ledger_receivables_allowances (
    platform_id uuid NOT NULL,
    month date NOT NULL,
    run integer NOT NULL,
    currency text NOT NULL,
    owed_30 bigint NOT NULL,
    owed_60 bigint NOT NULL,
    owed_90 bigint NOT NULL,
    owed_over_90 bigint NOT NULL,
    rates text NOT NULL,
    before bigint NOT NULL,
    required bigint NOT NULL
);
ALTER TABLE ONLY ledger_receivables_allowances
    ADD CONSTRAINT ledger_receivables_allowances_pkey PRIMARY KEY (platform_id, month, run, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_receivables_allowances FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_receivables_allowances
    ADD CONSTRAINT ledger_receivables_allowances_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE ledger_receivables_allowances ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_receivables_allowances USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_receivables_allowances TO causeway_service;

CREATE TABLE ledger_recurring_adjustments (
    platform_id uuid NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    entries jsonb NOT NULL,
    note text NOT NULL,
    first_month date NOT NULL,
    last_month date,
    reverses boolean NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    person_id uuid,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    CONSTRAINT ledger_recurring_adjustment_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT ledger_recurring_adjustment_name_length CHECK (((length(name) >= 1) AND (length(name) <= 40))),
    CONSTRAINT ledger_recurring_adjustment_note_length CHECK (((length(note) >= 1) AND (length(note) <= 400))),
    CONSTRAINT ledger_recurring_adjustment_two_tokens CHECK ((approver_token_id <> token_id)),
    CONSTRAINT ledger_recurring_adjustment_version_positive CHECK ((version > 0))
);
ALTER TABLE ONLY ledger_recurring_adjustments
    ADD CONSTRAINT ledger_recurring_adjustments_pkey PRIMARY KEY (platform_id, name, version);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_recurring_adjustments FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_recurring_adjustments REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('recurring-adjustment', 'name', 'version');
ALTER TABLE ledger_recurring_adjustments ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_recurring_adjustments USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_recurring_adjustments TO causeway_service;

CREATE TABLE ledger_recurring_runs (
    platform_id uuid NOT NULL,
    name text NOT NULL,
    month date NOT NULL,
    version integer NOT NULL,
    posting_id uuid NOT NULL,
    reversal_id uuid,
    posted_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY ledger_recurring_runs
    ADD CONSTRAINT ledger_recurring_runs_pkey PRIMARY KEY (platform_id, name, month);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_recurring_runs FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ledger_recurring_runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_recurring_runs USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_recurring_runs TO causeway_service;

CREATE TABLE ledger_settings (
    platform_id uuid NOT NULL,
    version integer NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    note text NOT NULL,
    functional_currency text NOT NULL,
    unrealised_result text NOT NULL,
    fee_recognition text NOT NULL,
    year_end_month smallint NOT NULL,
    four_eyes text[] NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    receivables_allowance text,
    CONSTRAINT ledger_setting_fee_recognition_known CHECK ((fee_recognition = ANY (ARRAY['CONVERSION'::text, 'DELIVERY'::text]))),
    CONSTRAINT ledger_setting_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT ledger_setting_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT ledger_setting_two_tokens CHECK ((approver_token_id <> token_id)),
    CONSTRAINT ledger_setting_unrealised_result_known CHECK ((unrealised_result = ANY (ARRAY['REVERSE'::text, 'KEEP'::text]))),
    CONSTRAINT ledger_setting_version_positive CHECK ((version > 0)),
    CONSTRAINT ledger_setting_year_end_month_exists CHECK (((year_end_month >= 1) AND (year_end_month <= 12)))
);
ALTER TABLE ONLY ledger_settings
    ADD CONSTRAINT ledger_settings_pkey PRIMARY KEY (platform_id, version);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_settings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_settings REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('settings', 'version');
CREATE TRIGGER ledger_evidence_rates AFTER INSERT ON ledger_settings FOR EACH ROW WHEN ((new.functional_currency <> ''::text)) EXECUTE FUNCTION ledger_queue_kept_rates();
ALTER TABLE ledger_settings ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_settings USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_settings TO causeway_service;

CREATE TABLE ledger_snapshot_progress (
    platform_id uuid NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    months_complete_before timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    last_account_id bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY ledger_snapshot_progress
    ADD CONSTRAINT ledger_snapshot_progress_pkey PRIMARY KEY (platform_id);
ALTER TABLE ledger_snapshot_progress ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_snapshot_progress USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE ledger_snapshot_progress TO causeway_service;

CREATE TABLE ledger_year_closings (
    platform_id uuid NOT NULL,
    year integer NOT NULL,
    number integer NOT NULL,
    last_month date NOT NULL,
    closed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    note text NOT NULL,
    posting_id uuid,
    seq bigint NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT ledger_year_closing_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT ledger_year_closing_note_length CHECK (((length(btrim(note)) >= 1) AND (length(btrim(note)) <= 500))),
    CONSTRAINT ledger_year_closing_number_positive CHECK ((number > 0)),
    CONSTRAINT ledger_year_closing_two_tokens CHECK ((approver_token_id <> token_id)),
    CONSTRAINT ledger_year_closing_year_exists CHECK (((year >= 2000) AND (year <= 9999)))
);
ALTER TABLE ONLY ledger_year_closings
    ADD CONSTRAINT ledger_year_closings_pkey PRIMARY KEY (platform_id, year, number);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_year_closings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_year_closings REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('year-closing', 'year', 'number');
ALTER TABLE ONLY ledger_year_closings
    ADD CONSTRAINT ledger_year_closing_posting_fkey FOREIGN KEY (platform_id, posting_id) REFERENCES ledger_posting_ids(platform_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ledger_year_closings ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_year_closings USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_year_closings TO causeway_service;

CREATE TABLE ledger_year_results (
    platform_id uuid NOT NULL,
    year integer NOT NULL,
    number integer NOT NULL,
    currency text NOT NULL,
    income numeric NOT NULL,
    expense numeric NOT NULL
);
ALTER TABLE ONLY ledger_year_results
    ADD CONSTRAINT ledger_year_results_pkey PRIMARY KEY (platform_id, year, number, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_year_results FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY ledger_year_results
    ADD CONSTRAINT ledger_year_result_closing_fkey FOREIGN KEY (platform_id, year, number) REFERENCES ledger_year_closings(platform_id, year, number);
ALTER TABLE ledger_year_results ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_year_results USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_year_results TO causeway_service;

CREATE TABLE ledger_year_reversals (
    platform_id uuid NOT NULL,
    year integer NOT NULL,
    number integer NOT NULL,
    reversed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text NOT NULL,
    note text NOT NULL,
    posting_id uuid,
    effective_at timestamp with time zone NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT ledger_year_reversal_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT ledger_year_reversal_note_length CHECK (((length(btrim(note)) >= 1) AND (length(btrim(note)) <= 500))),
    CONSTRAINT ledger_year_reversal_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ONLY ledger_year_reversals
    ADD CONSTRAINT ledger_year_reversals_pkey PRIMARY KEY (platform_id, year, number);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_year_reversals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_year_reversals REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('year-reversal', 'year', 'number');
ALTER TABLE ONLY ledger_year_reversals
    ADD CONSTRAINT ledger_year_reversal_closing_fkey FOREIGN KEY (platform_id, year, number) REFERENCES ledger_year_closings(platform_id, year, number);
ALTER TABLE ONLY ledger_year_reversals
    ADD CONSTRAINT ledger_year_reversal_posting_fkey FOREIGN KEY (platform_id, posting_id) REFERENCES ledger_posting_ids(platform_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ledger_year_reversals ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON ledger_year_reversals USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE ledger_year_reversals TO causeway_service;

CREATE TABLE lightning_events (
    connection text NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    partner_id text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY lightning_events
    ADD CONSTRAINT lightning_event_once UNIQUE (connection, kind, partner_id);
ALTER TABLE ONLY lightning_events
    ADD CONSTRAINT lightning_events_pkey PRIMARY KEY (connection, number);
CREATE INDEX lightning_events_by_created_at ON lightning_events USING btree (created_at);
GRANT SELECT,INSERT,DELETE ON TABLE lightning_events TO causeway_service;

CREATE TABLE lightning_invoices (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    connection text NOT NULL,
    reference text NOT NULL,
    satoshis bigint NOT NULL,
    description_hash bytea NOT NULL,
    request text NOT NULL,
    payment_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT lightning_invoice_description_is_sha256 CHECK ((length(description_hash) = 32)),
    CONSTRAINT lightning_invoice_hash_is_sha256 CHECK ((length(payment_hash) = 32))
);
ALTER TABLE lightning_invoices
    ADD CONSTRAINT lightning_invoice_positive CHECK (((satoshis > 0) OR (request = ''::text))) NOT VALID;
ALTER TABLE ONLY lightning_invoices
    ADD CONSTRAINT lightning_invoices_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX lightning_invoices_by_expiry ON lightning_invoices USING btree (platform_id, expires_at);
CREATE INDEX lightning_invoices_by_hash ON lightning_invoices USING btree (connection, payment_hash);
ALTER TABLE ONLY lightning_invoices
    ADD CONSTRAINT lightning_invoices_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE lightning_invoices ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON lightning_invoices USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE lightning_invoices TO causeway_service;

CREATE TABLE lightning_nodes (
    connection text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    settle_index bigint,
    payment_index bigint,
    fee_msat bigint DEFAULT 0 NOT NULL,
    last_event bigint DEFAULT 0 NOT NULL,
    read_event bigint DEFAULT 0 NOT NULL,
    began_settle_index bigint,
    began_payment_index bigint
);
ALTER TABLE ONLY lightning_nodes
    ADD CONSTRAINT lightning_nodes_pkey PRIMARY KEY (connection);
GRANT SELECT,INSERT,UPDATE ON TABLE lightning_nodes TO causeway_service;

CREATE TABLE lightning_payments (
    platform_id uuid NOT NULL,
    connection text NOT NULL,
    id uuid NOT NULL,
    destination bytea NOT NULL,
    satoshis bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    status text NOT NULL,
    invoice text DEFAULT ''::text NOT NULL,
    payment_hash bytea,
    expires_at timestamp with time zone,
    sent_at timestamp with time zone,
    sendings integer DEFAULT 0 NOT NULL,
    payment_index bigint,
    fee_msat bigint DEFAULT 0 NOT NULL,
    asked_at timestamp with time zone,
    code text DEFAULT ''::text NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT lightning_payment_destination_is_sha256 CHECK ((length(destination) = 32)),
    CONSTRAINT lightning_payment_hash_is_sha256 CHECK ((length(payment_hash) = 32)),
    CONSTRAINT lightning_payment_positive CHECK ((satoshis > 0)),
    CONSTRAINT lightning_payment_sent_has_hash CHECK (((status <> ALL (ARRAY['SENT'::text, 'PAID'::text])) OR ((payment_hash IS NOT NULL) AND (sent_at IS NOT NULL)))),
    CONSTRAINT lightning_payment_status_known CHECK ((status = ANY (ARRAY['NEW'::text, 'SENT'::text, 'PAID'::text, 'FAILED'::text])))
);
ALTER TABLE ONLY lightning_payments
    ADD CONSTRAINT lightning_payments_pkey PRIMARY KEY (platform_id, connection, id);
CREATE UNIQUE INDEX lightning_payment_hash_once ON lightning_payments USING btree (connection, payment_hash) WHERE (status = ANY (ARRAY['SENT'::text, 'PAID'::text]));
CREATE INDEX lightning_payments_ended ON lightning_payments USING btree (platform_id, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX lightning_payments_sent ON lightning_payments USING btree (connection, id) WHERE (status = 'SENT'::text);
ALTER TABLE ONLY lightning_payments
    ADD CONSTRAINT lightning_payments_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE lightning_payments ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON lightning_payments USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE lightning_payments TO causeway_service;

CREATE TABLE limit_usage (
    platform_id uuid NOT NULL,
    scope text NOT NULL,
    day date NOT NULL,
    currency text NOT NULL,
    transactions bigint NOT NULL,
    spent bigint NOT NULL,
    CONSTRAINT limit_usage_spent_not_negative CHECK ((spent >= 0)),
    CONSTRAINT limit_usage_transactions_not_negative CHECK ((transactions >= 0))
)
WITH (fillfactor='50');
ALTER TABLE ONLY limit_usage
    ADD CONSTRAINT limit_usage_pkey PRIMARY KEY (platform_id, scope, day, currency);
CREATE INDEX limit_usage_by_day ON limit_usage USING btree (platform_id, day);
ALTER TABLE ONLY limit_usage
    ADD CONSTRAINT limit_usage_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE limit_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON limit_usage USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE limit_usage TO causeway_service;

CREATE TABLE limits (
    platform_id uuid NOT NULL,
    currency text NOT NULL,
    customer text NOT NULL,
    region text NOT NULL,
    per_payment bigint NOT NULL,
    daily bigint NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT limit_daily_not_negative CHECK ((daily >= 0)),
    CONSTRAINT limit_per_payment_not_negative CHECK ((per_payment >= 0))
);
ALTER TABLE ONLY limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (platform_id, currency, customer, region);
ALTER TABLE ONLY limits
    ADD CONSTRAINT limits_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE limits ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON limits USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE limits TO causeway_service;

CREATE TABLE lookups (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid,
    sender_uma text NOT NULL,
    receiver_uma text NOT NULL,
    external_id uuid,
    requested_fields jsonb NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    currencies text[] NOT NULL,
    receiver_info jsonb NOT NULL,
    uma_receiver jsonb,
    uma_invoice_id uuid,
    uma_invoice_minor bigint,
    CONSTRAINT lookup_has_one_receiver CHECK (((receiver_uma = ''::text) = (external_id IS NOT NULL)))
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY lookups ATTACH PARTITION lookups_default DEFAULT;
ALTER TABLE ONLY lookups ATTACH PARTITION lookups_first FOR VALUES FROM (MINVALUE) TO (...);
ALTER TABLE ONLY lookups
    ADD CONSTRAINT lookups_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE lookups
    ADD CONSTRAINT lookups_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE lookups ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON lookups USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE lookups TO causeway_service;
GRANT UPDATE(receiver_info) ON TABLE lookups TO causeway_service;

ALTER TABLE lookups_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE lookups_first ENABLE ROW LEVEL SECURITY;

CREATE TABLE lost_commit_findings (
    id bigint NOT NULL,
    noticed_at timestamp with time zone NOT NULL
);
ALTER TABLE lost_commit_findings ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lost_commit_findings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY lost_commit_findings
    ADD CONSTRAINT lost_commit_findings_pkey PRIMARY KEY (id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON lost_commit_findings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT,INSERT ON TABLE lost_commit_findings TO causeway_service;

CREATE TABLE lost_commit_reviews (
    finding_id bigint NOT NULL,
    reviewed_by text NOT NULL,
    note text NOT NULL,
    reviewed_at timestamp with time zone NOT NULL,
    person_id uuid,
    CONSTRAINT lost_commit_review_note_length CHECK (((length(note) >= 1) AND (length(note) <= 500))),
    CONSTRAINT lost_commit_reviewed_by_length CHECK (((length(reviewed_by) >= 1) AND (length(reviewed_by) <= 200)))
);
ALTER TABLE ONLY lost_commit_reviews
    ADD CONSTRAINT lost_commit_reviews_pkey PRIMARY KEY (finding_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON lost_commit_reviews FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY lost_commit_reviews
    ADD CONSTRAINT lost_commit_review_finding_fkey FOREIGN KEY (finding_id) REFERENCES lost_commit_findings(id);
GRANT SELECT ON TABLE lost_commit_reviews TO causeway_service;

CREATE TABLE lost_commits (
    platform_id uuid NOT NULL,
    finding_id bigint NOT NULL,
    kind text NOT NULL,
    reference text NOT NULL,
    transaction_id uuid,
    committed_at timestamp with time zone,
    CONSTRAINT lost_commit_kind_known CHECK ((kind = ANY (ARRAY['POSTING'::text, 'EVENT'::text, 'CHECKPOINT'::text]))),
    CONSTRAINT lost_commit_reference_length CHECK (((length(reference) >= 1) AND (length(reference) <= 200)))
);
ALTER TABLE ONLY lost_commits
    ADD CONSTRAINT lost_commits_pkey PRIMARY KEY (platform_id, finding_id, kind, reference);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON lost_commits FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY lost_commits
    ADD CONSTRAINT lost_commit_finding_fkey FOREIGN KEY (finding_id) REFERENCES lost_commit_findings(id);
ALTER TABLE lost_commits ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON lost_commits USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE lost_commits TO causeway_service;

CREATE TABLE mail_counts (
    platform_id uuid NOT NULL,
    hour_at timestamp with time zone NOT NULL,
    mails integer NOT NULL,
    notices integer DEFAULT 0 NOT NULL,
    sms integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE ONLY mail_counts
    ADD CONSTRAINT mail_counts_pkey PRIMARY KEY (platform_id);
ALTER TABLE ONLY mail_counts
    ADD CONSTRAINT mail_counts_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE mail_counts ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON mail_counts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE mail_counts TO causeway_service;

CREATE TABLE mails (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    content text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    topic text DEFAULT ''::text NOT NULL,
    CONSTRAINT mail_content_until_end CHECK (((status = 'WAITING'::text) = (content <> ''::text))),
    CONSTRAINT mail_status_known CHECK ((status = ANY (ARRAY['WAITING'::text, 'SENT'::text, 'REFUSED'::text, 'EXPIRED'::text]))),
    CONSTRAINT mail_waits_until_end CHECK (((status = 'WAITING'::text) = (ended_at IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.02');
ALTER TABLE ONLY mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX mails_refused ON mails USING btree (platform_id, id) WHERE (status = 'REFUSED'::text);
CREATE INDEX mails_waiting ON mails USING btree (platform_id, created_at) WHERE (status = 'WAITING'::text);
ALTER TABLE ONLY mails
    ADD CONSTRAINT mails_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
ALTER TABLE mails ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON mails USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE mails TO causeway_service;

CREATE TABLE market_rates (
    kept_at timestamp with time zone NOT NULL,
    currency text NOT NULL,
    usd_rate text NOT NULL,
    rate_at timestamp with time zone NOT NULL,
    source text NOT NULL,
    CONSTRAINT market_rate_has_source CHECK ((source <> ''::text)),
    CONSTRAINT market_rate_not_from_future CHECK ((rate_at <= kept_at)),
    CONSTRAINT market_rate_positive CHECK (((usd_rate)::numeric > (0)::numeric))
);
ALTER TABLE ONLY market_rates
    ADD CONSTRAINT market_rates_pkey PRIMARY KEY (kept_at, currency);
CREATE TRIGGER ledger_evidence_deletion AFTER DELETE ON market_rates REFERENCING OLD TABLE AS changed FOR EACH STATEMENT WHEN ((CURRENT_USER = 'causeway_service'::name)) EXECUTE FUNCTION ledger_queue_market_rates('market-rates');
CREATE TRIGGER ledger_evidence_version AFTER INSERT ON market_rates REFERENCING NEW TABLE AS changed FOR EACH STATEMENT WHEN ((CURRENT_USER = 'causeway_service'::name)) EXECUTE FUNCTION ledger_queue_market_rates('market-rates');
GRANT SELECT,INSERT,DELETE ON TABLE market_rates TO causeway_service;

CREATE TABLE operator_actions (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    action text NOT NULL,
    subject_id uuid NOT NULL,
    actor text NOT NULL,
    at timestamp with time zone NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    person_id uuid,
    changes jsonb,
    CONSTRAINT operator_action_actor_length CHECK (((length(actor) >= 1) AND (length(actor) <= 200))),
    CONSTRAINT operator_action_known CHECK ((action ~ '^[A-Z][A-Z_]{2,39}$'::text))
);
ALTER TABLE ONLY operator_actions
    ADD CONSTRAINT operator_actions_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX operator_actions_by_actor ON operator_actions USING btree (platform_id, actor, id);
CREATE INDEX operator_actions_by_name ON operator_actions USING btree (platform_id, subject, id) WHERE (subject <> ''::text);
CREATE INDEX operator_actions_by_subject ON operator_actions USING btree (platform_id, subject_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_actions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE operator_actions ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON operator_actions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE operator_actions TO causeway_service;

CREATE TABLE operator_refusals (
    platform_id uuid NOT NULL,
    action_id uuid NOT NULL,
    reason text NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY operator_refusals
    ADD CONSTRAINT operator_refusals_pkey PRIMARY KEY (platform_id, action_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON operator_refusals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY operator_refusals
    ADD CONSTRAINT operator_refusal_action_fkey FOREIGN KEY (platform_id, action_id) REFERENCES operator_actions(platform_id, id);
ALTER TABLE operator_refusals ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON operator_refusals USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE operator_refusals TO causeway_service;

CREATE TABLE partner_event_numbers (
    connection text NOT NULL,
    last bigint NOT NULL
);
ALTER TABLE ONLY partner_event_numbers
    ADD CONSTRAINT partner_event_numbers_pkey PRIMARY KEY (connection);
GRANT SELECT,INSERT,UPDATE ON TABLE partner_event_numbers TO causeway_service;

CREATE TABLE partner_events (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    connection text NOT NULL,
    number bigint NOT NULL,
    event_id text NOT NULL,
    body text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT partner_event_of_no_platform CHECK ((platform_id = '00000000-0000-0000-0000-000000000000'::uuid))
);
ALTER TABLE ONLY partner_events
    ADD CONSTRAINT partner_event_number_once UNIQUE (connection, number);
ALTER TABLE ONLY partner_events
    ADD CONSTRAINT partner_event_once UNIQUE (connection, event_id);
ALTER TABLE ONLY partner_events
    ADD CONSTRAINT partner_events_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX partner_events_by_received_at ON partner_events USING btree (received_at);
ALTER TABLE partner_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON partner_events USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE partner_events TO causeway_service;
GRANT UPDATE(body) ON TABLE partner_events TO causeway_service;

CREATE TABLE payment_authorizations (
    platform_id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    purpose text NOT NULL,
    customer_id uuid NOT NULL,
    challenge_id uuid,
    factor text NOT NULL,
    exemption text NOT NULL,
    euro_cents bigint NOT NULL,
    digest bytea NOT NULL,
    authorized_at timestamp with time zone NOT NULL,
    CONSTRAINT payment_authorization_digest_length CHECK ((length(digest) = 32)),
    CONSTRAINT payment_authorization_proof_or_exemption CHECK ((((exemption = ''::text) = (challenge_id IS NOT NULL)) AND ((factor = ANY (ARRAY['SMS_OTP'::text, 'PASSKEY'::text])) = (exemption = ''::text)) AND (exemption = ANY (ARRAY[''::text, 'TRUSTED_BENEFICIARY'::text, 'LOW_VALUE'::text]))))
);
ALTER TABLE ONLY payment_authorizations
    ADD CONSTRAINT payment_authorizations_pkey PRIMARY KEY (platform_id, transaction_id, purpose);
CREATE INDEX payment_authorizations_by_customer ON payment_authorizations USING btree (platform_id, customer_id, authorized_at DESC);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON payment_authorizations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON payment_authorizations REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('payment-authorization', 'transaction_id', 'purpose');
ALTER TABLE payment_authorizations ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON payment_authorizations USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT ON TABLE payment_authorizations TO causeway_service;

CREATE TABLE people (
    id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    roles text[] NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    time_zone text DEFAULT ''::text NOT NULL,
    CONSTRAINT person_email_length CHECK (((length(email) >= 6) AND (length(email) <= 200))),
    CONSTRAINT person_has_role CHECK ((cardinality(roles) > 0)),
    CONSTRAINT person_name_length CHECK (((length(name) >= 1) AND (length(name) <= 255))),
    CONSTRAINT person_status_known CHECK ((status = ANY (ARRAY['INVITED'::text, 'ACTIVE'::text, 'DISABLED'::text])))
);
ALTER TABLE ONLY people
    ADD CONSTRAINT people_pkey PRIMARY KEY (id);
ALTER TABLE ONLY people
    ADD CONSTRAINT person_email_unique UNIQUE (email);
ALTER TABLE people ENABLE ROW LEVEL SECURITY;
CREATE POLICY people_read_for_platforms ON people FOR SELECT USING ((( SELECT visible_platform() AS visible_platform) IS NOT NULL));
CREATE POLICY platform_isolation ON people USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,UPDATE ON TABLE people TO causeway_service;

CREATE TABLE person_factors (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    secrets jsonb NOT NULL,
    totp_step bigint NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    wrong_codes integer DEFAULT 0 NOT NULL,
    wrong_since timestamp with time zone
);
ALTER TABLE ONLY person_factors
    ADD CONSTRAINT person_factors_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE ONLY person_factors
    ADD CONSTRAINT person_factors_person_fkey FOREIGN KEY (id) REFERENCES people(id);
ALTER TABLE person_factors ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON person_factors USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE person_factors TO causeway_service;

CREATE TABLE person_identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    person_id uuid NOT NULL,
    CONSTRAINT person_identity_subject_length CHECK (((length(subject) >= 1) AND (length(subject) <= 255)))
);
ALTER TABLE ONLY person_identities
    ADD CONSTRAINT person_identities_pkey PRIMARY KEY (issuer, subject);
ALTER TABLE ONLY person_identities
    ADD CONSTRAINT person_identity_person_unique UNIQUE (person_id);
ALTER TABLE ONLY person_identities
    ADD CONSTRAINT person_identity_person_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE person_identities ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON person_identities USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE ON TABLE person_identities TO causeway_service;

CREATE TABLE person_links (
    token_hash bytea NOT NULL,
    person_id uuid NOT NULL,
    signs_in boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    opened_at timestamp with time zone,
    CONSTRAINT person_link_token_is_sha256 CHECK ((length(token_hash) = 32))
);
ALTER TABLE ONLY person_links
    ADD CONSTRAINT person_links_pkey PRIMARY KEY (token_hash);
CREATE INDEX person_links_by_expires_at ON person_links USING btree (expires_at);
CREATE INDEX person_links_by_person ON person_links USING btree (person_id);
ALTER TABLE ONLY person_links
    ADD CONSTRAINT person_link_person_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE person_links ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON person_links USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE person_links TO causeway_service;

CREATE TABLE person_passkeys (
    credential_id bytea NOT NULL,
    person_id uuid NOT NULL,
    name text NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    backup_eligible boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    stopped_at timestamp with time zone,
    CONSTRAINT person_passkey_id_length CHECK (((length(credential_id) >= 1) AND (length(credential_id) <= 1023))),
    CONSTRAINT person_passkey_key_length CHECK (((length(public_key) >= 1) AND (length(public_key) <= 1024))),
    CONSTRAINT person_passkey_name_length CHECK (((length(name) >= 1) AND (length(name) <= 60)))
);
ALTER TABLE ONLY person_passkeys
    ADD CONSTRAINT person_passkeys_pkey PRIMARY KEY (credential_id);
CREATE INDEX person_passkeys_by_person ON person_passkeys USING btree (person_id);
ALTER TABLE ONLY person_passkeys
    ADD CONSTRAINT person_passkey_person_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE person_passkeys ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON person_passkeys USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE person_passkeys TO causeway_service;

CREATE TABLE person_sessions (
    token_hash bytea NOT NULL,
    person_id uuid NOT NULL,
    setup boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    command_line boolean DEFAULT false NOT NULL,
    single_sign_on boolean DEFAULT false NOT NULL,
    confirmed_action text DEFAULT ''::text NOT NULL,
    confirmed_until timestamp with time zone,
    device text DEFAULT ''::text NOT NULL,
    CONSTRAINT person_session_token_is_sha256 CHECK ((length(token_hash) = 32))
);
ALTER TABLE ONLY person_sessions
    ADD CONSTRAINT person_sessions_pkey PRIMARY KEY (token_hash);
CREATE INDEX person_sessions_by_expires_at ON person_sessions USING btree (expires_at);
CREATE INDEX person_sessions_by_person ON person_sessions USING btree (person_id);
ALTER TABLE ONLY person_sessions
    ADD CONSTRAINT person_session_person_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE person_sessions ENABLE ROW LEVEL SECURITY;
CREATE POLICY platform_isolation ON person_sessions USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE person_sessions TO causeway_service;

CREATE TABLE platforms (
    id uuid NOT NULL,
    name text NOT NULL,
    environment text NOT NULL,
    regulated boolean NOT NULL,
    uma_domain text NOT NULL,
    uma_subdomain text DEFAULT ''::text NOT NULL,
    webhook_endpoint text DEFAULT ''::text NOT NULL,
    currencies jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    webhook_signatures text[] DEFAULT '{ECDSA_P256_SHA256,HMAC_SHA256}'::text[] NOT NULL,
    webhook_secrets_version bigint DEFAULT 0 NOT NULL,
    kyc_redirect_origins text[] DEFAULT '{}'::text[] NOT NULL,
    invitation_url text DEFAULT ''::text NOT NULL,
    embedded_wallets jsonb,
    closed_at timestamp with time zone,
    successor_id uuid,
    listener_until timestamp with time zone,
    fee_configs jsonb DEFAULT '[]'::jsonb NOT NULL,
    sca_regions text[],
    sca_payments_since timestamp with time zone,
    sca_exemptions text[] DEFAULT '{}'::text[] NOT NULL,
    lightning_addresses boolean DEFAULT false NOT NULL,
    CONSTRAINT platform_environment_known CHECK ((environment = ANY (ARRAY['SANDBOX'::text, 'PRODUCTION'::text]))),
    CONSTRAINT platform_sca_exemptions_known CHECK ((sca_exemptions <@ '{TRUSTED_BENEFICIARY,LOW_VALUE}'::text[])),
    CONSTRAINT platform_webhook_signatures_known CHECK (((webhook_signatures <@ '{ECDSA_P256_SHA256,HMAC_SHA256,ED25519}'::text[]) AND (cardinality(webhook_signatures) > 0)))
);
ALTER TABLE platforms
    ADD CONSTRAINT platform_closed_with_successor CHECK ((((closed_at IS NULL) = (successor_id IS NULL)) AND ((closed_at IS NULL) OR (environment = 'SANDBOX'::text)))) NOT VALID;
ALTER TABLE platforms
    ADD CONSTRAINT platform_listener_of_sandbox CHECK (((listener_until IS NULL) OR (environment = 'SANDBOX'::text))) NOT VALID;
ALTER TABLE ONLY platforms
    ADD CONSTRAINT platforms_pkey PRIMARY KEY (id);
CREATE TRIGGER platform_uma_domain_stays_unique BEFORE UPDATE OF uma_domain ON platforms FOR EACH ROW WHEN (((new.environment = 'PRODUCTION'::text) AND (new.uma_domain <> old.uma_domain) AND (new.uma_domain !~~ '%.test'::text))) EXECUTE FUNCTION platform_check_uma_domain();
CREATE TRIGGER platform_uma_domain_unique BEFORE INSERT ON platforms FOR EACH ROW WHEN (((new.environment = 'PRODUCTION'::text) AND (new.uma_domain !~~ '%.test'::text))) EXECUTE FUNCTION platform_check_uma_domain();
CREATE POLICY platform_isolation ON platforms USING (((id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE platforms ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE platforms TO causeway_service;

CREATE TABLE processes (
    id uuid NOT NULL,
    host text NOT NULL,
    version text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone,
    ownership_limits text[]
);
ALTER TABLE ONLY processes
    ADD CONSTRAINT processes_pkey PRIMARY KEY (id);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE processes TO causeway_service;

CREATE TABLE quote_retention_open (
    platform_id uuid NOT NULL,
    quote_id uuid NOT NULL,
    check_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY quote_retention_open
    ADD CONSTRAINT quote_retention_open_pkey PRIMARY KEY (platform_id, quote_id);
CREATE INDEX quote_retention_open_by_check_at ON quote_retention_open USING btree (platform_id, check_at);
CREATE POLICY platform_isolation ON quote_retention_open USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE quote_retention_open ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON TABLE quote_retention_open TO causeway_service;

CREATE TABLE quote_retention_progress (
    platform_id uuid NOT NULL,
    checked_to uuid NOT NULL
);
ALTER TABLE ONLY quote_retention_progress
    ADD CONSTRAINT quote_retention_progress_pkey PRIMARY KEY (platform_id);
CREATE POLICY platform_isolation ON quote_retention_progress USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE quote_retention_progress ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON TABLE quote_retention_progress TO causeway_service;

CREATE TABLE quotes (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    side text NOT NULL,
    locked_amount bigint NOT NULL,
    fees bigint NOT NULL,
    fee_fixed bigint NOT NULL,
    fee_variable bigint NOT NULL,
    fee_fraction text NOT NULL,
    rate text NOT NULL,
    market_rate text NOT NULL,
    rounding_sent bigint NOT NULL,
    rounding_received bigint NOT NULL,
    network text NOT NULL,
    reference text NOT NULL,
    instructions text NOT NULL,
    description text NOT NULL,
    purpose text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expired_early_at timestamp with time zone,
    platform_fees bigint,
    platform_fee_fixed bigint,
    platform_fee_bps integer
);
ALTER TABLE quotes
    ADD CONSTRAINT quote_expired_early CHECK ((expired_early_at < expires_at)) NOT VALID;
ALTER TABLE ONLY quotes
    ADD CONSTRAINT quotes_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX quote_reference_unique ON quotes USING btree (platform_id, reference) WHERE (reference <> ''::text);
CREATE POLICY platform_isolation ON quotes USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE quotes ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE quotes TO causeway_service;
GRANT UPDATE(description) ON TABLE quotes TO causeway_service;
GRANT UPDATE(expired_early_at) ON TABLE quotes TO causeway_service;

CREATE TABLE rail_accounts (
    connection text NOT NULL,
    currency text NOT NULL,
    balance_at timestamp with time zone,
    in_flight bigint DEFAULT 0 NOT NULL,
    moved bigint DEFAULT 0 NOT NULL,
    CONSTRAINT rail_account_in_flight_not_negative CHECK ((in_flight >= 0))
);
ALTER TABLE ONLY rail_accounts
    ADD CONSTRAINT rail_accounts_pkey PRIMARY KEY (connection, currency);
GRANT SELECT,INSERT,UPDATE ON TABLE rail_accounts TO causeway_service;

CREATE TABLE rail_balances (
    connection text NOT NULL,
    currency text NOT NULL,
    day date NOT NULL,
    amount bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY rail_balances
    ADD CONSTRAINT rail_balances_pkey PRIMARY KEY (connection, currency, day);
CREATE INDEX rail_balances_by_day ON rail_balances USING btree (day);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE rail_balances TO causeway_service;

CREATE TABLE rail_connections (
    name text NOT NULL,
    version integer NOT NULL,
    settings jsonb NOT NULL,
    set_by text NOT NULL,
    note text NOT NULL,
    set_at timestamp with time zone NOT NULL,
    state text DEFAULT 'OPEN'::text NOT NULL,
    person_id uuid,
    proposal_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    CONSTRAINT rail_connection_name_valid CHECK ((name ~ '^[a-z][a-z0-9-]{0,39}$'::text)),
    CONSTRAINT rail_connection_note_length CHECK (((length(note) >= 1) AND (length(note) <= 500))),
    CONSTRAINT rail_connection_set_by_length CHECK (((length(set_by) >= 1) AND (length(set_by) <= 200))),
    CONSTRAINT rail_connection_state_known CHECK ((state = ANY (ARRAY['OPEN'::text, 'RETIRED'::text, 'DELETED'::text]))),
    CONSTRAINT rail_connection_version_positive CHECK ((version > 0))
);
ALTER TABLE rail_connections
    ADD CONSTRAINT rail_connection_has_approver CHECK (((proposal_id IS NOT NULL) = (approver <> ''::text))) NOT VALID;
ALTER TABLE ONLY rail_connections
    ADD CONSTRAINT rail_connections_pkey PRIMARY KEY (name, version);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON rail_connections FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER rail_as_proposed BEFORE INSERT ON rail_connections FOR EACH ROW EXECUTE FUNCTION rail_check_proposed();
GRANT SELECT,INSERT ON TABLE rail_connections TO causeway_service;

CREATE TABLE rail_controls (
    id bigint NOT NULL,
    name text NOT NULL,
    paused boolean NOT NULL,
    set_by text NOT NULL,
    note text NOT NULL,
    set_at timestamp with time zone NOT NULL,
    person_id uuid,
    CONSTRAINT rail_control_name_valid CHECK ((name ~ '^([a-z][a-z0-9-]{0,39}|[A-Z][A-Z0-9_]{0,39})$'::text)),
    CONSTRAINT rail_control_note_length CHECK (((length(note) >= 1) AND (length(note) <= 500))),
    CONSTRAINT rail_control_set_by_length CHECK (((length(set_by) >= 1) AND (length(set_by) <= 200)))
);
ALTER TABLE rail_controls ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rail_controls_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY rail_controls
    ADD CONSTRAINT rail_controls_pkey PRIMARY KEY (name, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON rail_controls FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER rail_by_person BEFORE INSERT ON rail_controls FOR EACH ROW EXECUTE FUNCTION rail_check_person();
GRANT SELECT,INSERT ON TABLE rail_controls TO causeway_service;

CREATE TABLE rail_decisions (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    kind text NOT NULL,
    decision text NOT NULL,
    state text NOT NULL,
    wait text NOT NULL,
    reason text NOT NULL,
    actor text NOT NULL,
    note text NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    person_id uuid,
    token_id uuid,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    CONSTRAINT rail_decision_actor_length CHECK (((length(actor) >= 1) AND (length(actor) <= 200))),
    CONSTRAINT rail_decision_known CHECK ((decision = ANY (ARRAY['RELEASE'::text, 'CANCEL'::text, 'WITHDRAW'::text, 'MOVE'::text, 'REPORT_NOT_SENT'::text, 'CONFIRM_NOT_SENT'::text]))),
    CONSTRAINT rail_decision_note_length CHECK (((length(note) >= 1) AND (length(note) <= 500)))
);
ALTER TABLE rail_decisions
    ADD CONSTRAINT rail_decision_has_approver CHECK (((proposal_id IS NOT NULL) = (approver <> ''::text))) NOT VALID;
ALTER TABLE rail_decisions
    ADD CONSTRAINT rail_decision_two_tokens CHECK ((approver_token_id <> token_id)) NOT VALID;
ALTER TABLE ONLY rail_decisions
    ADD CONSTRAINT rail_decisions_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX rail_decisions_by_actor ON rail_decisions USING btree (platform_id, actor, id);
CREATE INDEX rail_decisions_by_payment ON rail_decisions USING btree (platform_id, payment_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON rail_decisions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON rail_decisions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE rail_decisions ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE rail_decisions TO causeway_service;

CREATE TABLE rail_feed_items (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    connection text NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    content text NOT NULL,
    problem text NOT NULL,
    attempts integer DEFAULT 1 NOT NULL,
    kept_at timestamp with time zone NOT NULL,
    retry_at timestamp with time zone NOT NULL,
    discarded_at timestamp with time zone,
    discarded_by text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    place text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT rail_feed_item_key_length CHECK (((length(key) >= 1) AND (length(key) <= 600))),
    CONSTRAINT rail_feed_item_kind_form CHECK ((kind ~ '^[A-Z_]{1,40}$'::text)),
    CONSTRAINT rail_feed_item_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT rail_feed_item_place_length CHECK ((length(place) <= 500)),
    CONSTRAINT rail_feed_item_problem_length CHECK ((length(problem) <= 2000))
);
ALTER TABLE ONLY rail_feed_items
    ADD CONSTRAINT rail_feed_items_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX rail_feed_items_discarded ON rail_feed_items USING btree (discarded_at) WHERE (discarded_at IS NOT NULL);
CREATE UNIQUE INDEX rail_feed_items_once ON rail_feed_items USING btree (connection, kind, key);
CREATE INDEX rail_feed_items_open ON rail_feed_items USING btree (connection, retry_at) WHERE (discarded_at IS NULL);
CREATE POLICY platform_isolation ON rail_feed_items USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE rail_feed_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE rail_feed_items TO causeway_service;
GRANT UPDATE(person_id) ON TABLE rail_feed_items TO causeway_service;

CREATE TABLE rail_feeds (
    connection text NOT NULL,
    cursor text DEFAULT ''::text NOT NULL,
    fence bigint NOT NULL,
    holder uuid NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    failed_at timestamp with time zone,
    retry_at timestamp with time zone,
    succeeded_at timestamp with time zone,
    CONSTRAINT rail_feed_connection_length CHECK (((length(connection) >= 1) AND (length(connection) <= 100))),
    CONSTRAINT rail_feed_error_length CHECK ((length(last_error) <= 2000)),
    CONSTRAINT rail_feed_fence_positive CHECK ((fence > 0))
);
ALTER TABLE ONLY rail_feeds
    ADD CONSTRAINT rail_feeds_pkey PRIMARY KEY (connection);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE rail_feeds TO causeway_service;

CREATE TABLE rail_opening_balances (
    connection text NOT NULL,
    currency text NOT NULL,
    at timestamp with time zone NOT NULL,
    amount bigint NOT NULL,
    set_by text NOT NULL,
    note text NOT NULL,
    person_id uuid,
    proposal_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    CONSTRAINT rail_opening_balance_note_length CHECK (((length(note) >= 1) AND (length(note) <= 500))),
    CONSTRAINT rail_opening_balance_set_by_length CHECK (((length(set_by) >= 1) AND (length(set_by) <= 200)))
);
ALTER TABLE rail_opening_balances
    ADD CONSTRAINT rail_opening_balance_has_approver CHECK (((proposal_id IS NOT NULL) = (approver <> ''::text))) NOT VALID;
ALTER TABLE ONLY rail_opening_balances
    ADD CONSTRAINT rail_opening_balances_pkey PRIMARY KEY (connection, currency, at);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON rail_opening_balances FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER rail_as_proposed BEFORE INSERT ON rail_opening_balances FOR EACH ROW EXECUTE FUNCTION rail_check_balance();
GRANT SELECT,INSERT ON TABLE rail_opening_balances TO causeway_service;

CREATE TABLE rail_payments (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    rail text NOT NULL,
    country text NOT NULL,
    connection text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    state text NOT NULL,
    wait text NOT NULL,
    reason text NOT NULL,
    reviewed boolean DEFAULT false NOT NULL,
    forced boolean DEFAULT false NOT NULL,
    partner_id text DEFAULT ''::text NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    settled_at timestamp with time zone,
    returned_at timestamp with time zone,
    handed_over_at timestamp with time zone,
    sent_again boolean DEFAULT false NOT NULL,
    CONSTRAINT rail_payment_amount_positive CHECK ((amount > 0)),
    CONSTRAINT rail_payment_handed_over_to_connection CHECK (((handed_over_at IS NULL) OR (connection <> ''::text))),
    CONSTRAINT rail_payment_kind_known CHECK ((kind = ANY (ARRAY['PAYOUT'::text, 'COLLECTION'::text, 'REFUND'::text, 'SEND_BACK'::text]))),
    CONSTRAINT rail_payment_sent_over_connection CHECK (((sent_at IS NULL) OR (connection <> ''::text))),
    CONSTRAINT rail_payment_state_known CHECK ((state = ANY (ARRAY['REVIEW'::text, 'QUEUED'::text, 'HANDED_OVER'::text, 'SENT'::text, 'DONE'::text, 'REFUSED'::text, 'RETURNED'::text, 'CANCELLED'::text]))),
    CONSTRAINT rail_payment_waits_for_something CHECK (((state = ANY (ARRAY['REVIEW'::text, 'QUEUED'::text])) = (wait <> ''::text)))
);
ALTER TABLE ONLY rail_payments
    ADD CONSTRAINT rail_payments_pkey PRIMARY KEY (platform_id, id, kind);
CREATE INDEX rail_payments_ended ON rail_payments USING btree (settled_at) WHERE (settled_at IS NOT NULL);
CREATE INDEX rail_payments_handed_over ON rail_payments USING btree (connection, currency, handed_over_at) WHERE (state = 'HANDED_OVER'::text);
CREATE INDEX rail_payments_in_flight ON rail_payments USING btree (connection, currency, sent_at) WHERE (state = 'SENT'::text);
CREATE INDEX rail_payments_queued ON rail_payments USING btree (connection, currency, forced DESC, recorded_at, id) WHERE (state = 'QUEUED'::text);
CREATE INDEX rail_payments_returned ON rail_payments USING btree (connection, currency, returned_at) INCLUDE (kind, amount) WHERE (returned_at IS NOT NULL);
CREATE INDEX rail_payments_review ON rail_payments USING btree (recorded_at, id) WHERE (state = 'REVIEW'::text);
CREATE INDEX rail_payments_review_by_platform ON rail_payments USING btree (platform_id, recorded_at, id) WHERE (state = 'REVIEW'::text);
CREATE INDEX rail_payments_settled ON rail_payments USING btree (connection, currency, settled_at) INCLUDE (kind, amount, state) WHERE (settled_at IS NOT NULL);
CREATE POLICY platform_isolation ON rail_payments USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE rail_payments ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(connection) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(state) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(wait) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(reason) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(reviewed) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(forced) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(partner_id) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(sent_at) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(settled_at) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(returned_at) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(handed_over_at) ON TABLE rail_payments TO causeway_service;
GRANT UPDATE(sent_again) ON TABLE rail_payments TO causeway_service;

CREATE TABLE rail_proofs (
    day date NOT NULL,
    currency text NOT NULL,
    connections text[] NOT NULL,
    from_at timestamp with time zone,
    to_at timestamp with time zone,
    partners numeric NOT NULL,
    ledger_from numeric NOT NULL,
    ledger_to numeric NOT NULL,
    flight_out numeric NOT NULL,
    flight_in numeric NOT NULL,
    state text NOT NULL,
    difference numeric NOT NULL,
    suspects text[] NOT NULL,
    problem text NOT NULL,
    proved_at timestamp with time zone NOT NULL,
    CONSTRAINT rail_proof_difference_of_state CHECK (((difference <> (0)::numeric) = (state = 'DIFFERENT'::text))),
    CONSTRAINT rail_proof_has_connections CHECK ((cardinality(connections) > 0)),
    CONSTRAINT rail_proof_state_known CHECK ((state = ANY (ARRAY['PROVED'::text, 'DIFFERENT'::text, 'NO_BALANCE'::text])))
);
ALTER TABLE ONLY rail_proofs
    ADD CONSTRAINT rail_proofs_pkey PRIMARY KEY (day, currency, connections);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE rail_proofs TO causeway_service;

CREATE TABLE rail_proposals (
    id uuid NOT NULL,
    operation text NOT NULL,
    request text NOT NULL,
    status text NOT NULL,
    proposer text NOT NULL,
    decider text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error_message text DEFAULT ''::text NOT NULL,
    error_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    proposer_person_id uuid,
    decider_person_id uuid,
    CONSTRAINT rail_proposal_has_decider CHECK ((((status <> 'PENDING'::text) = (decided_at IS NOT NULL)) AND ((status <> 'PENDING'::text) = (decider <> ''::text)))),
    CONSTRAINT rail_proposal_has_proposer CHECK ((proposer <> ''::text)),
    CONSTRAINT rail_proposal_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT rail_proposal_status_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'EXECUTED'::text, 'REJECTED'::text]))),
    CONSTRAINT rail_proposal_two_people CHECK (((status <> 'EXECUTED'::text) OR (lower(decider) <> lower(proposer)))),
    CONSTRAINT rail_proposal_two_persons CHECK (((status <> 'EXECUTED'::text) OR (decider_person_id IS DISTINCT FROM proposer_person_id)))
);
ALTER TABLE ONLY rail_proposals
    ADD CONSTRAINT rail_proposals_pkey PRIMARY KEY (id);
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON rail_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER rail_proposal_check_change BEFORE UPDATE ON rail_proposals FOR EACH ROW EXECUTE FUNCTION rail_check_proposal_change();
CREATE TRIGGER rail_proposal_fixed BEFORE UPDATE OF id, operation, request, proposer, proposer_person_id, created_at, expires_at ON rail_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(status) ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(decider) ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(note) ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(error_code) ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(error_message) ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(error_at) ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(decided_at) ON TABLE rail_proposals TO causeway_service;
GRANT UPDATE(decider_person_id) ON TABLE rail_proposals TO causeway_service;

CREATE TABLE rail_receipts (
    platform_id uuid NOT NULL,
    rail text NOT NULL,
    partner_id text NOT NULL,
    connection text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    reversed_at timestamp with time zone,
    CONSTRAINT rail_receipt_not_negative CHECK ((amount >= 0))
);
ALTER TABLE ONLY rail_receipts
    ADD CONSTRAINT rail_receipts_pkey PRIMARY KEY (platform_id, rail, partner_id);
CREATE INDEX rail_receipts_by_time ON rail_receipts USING btree (received_at);
CREATE INDEX rail_receipts_received ON rail_receipts USING btree (connection, currency, received_at) INCLUDE (amount);
CREATE INDEX rail_receipts_reversed ON rail_receipts USING btree (connection, currency, reversed_at) INCLUDE (amount) WHERE (reversed_at IS NOT NULL);
CREATE POLICY platform_isolation ON rail_receipts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE rail_receipts ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE rail_receipts TO causeway_service;
GRANT UPDATE(reversed_at) ON TABLE rail_receipts TO causeway_service;

CREATE TABLE rail_replies (
    platform_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    replied_at timestamp with time zone NOT NULL,
    call text NOT NULL,
    verdict text NOT NULL,
    reason text NOT NULL,
    accepted boolean NOT NULL,
    retry_at timestamp with time zone,
    partner_id text DEFAULT ''::text NOT NULL,
    partner_code text DEFAULT ''::text NOT NULL,
    partner_text text DEFAULT ''::text NOT NULL,
    returned_at timestamp with time zone,
    expected_at timestamp with time zone,
    seal text DEFAULT ''::text NOT NULL
);
CREATE INDEX rail_replies_by_partner_id ON rail_replies USING btree (platform_id, partner_id, subject_id) WHERE (partner_id <> ''::text);
CREATE INDEX rail_replies_by_replied_at ON rail_replies USING btree (platform_id, replied_at);
CREATE INDEX rail_replies_by_subject ON rail_replies USING btree (platform_id, subject_id, replied_at);
CREATE POLICY platform_isolation ON rail_replies USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE rail_replies ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE rail_replies TO causeway_service;

CREATE TABLE rail_statements (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    connection text NOT NULL,
    name text NOT NULL,
    format text NOT NULL,
    account text NOT NULL,
    currency text NOT NULL,
    accounts text NOT NULL,
    digest bytea NOT NULL,
    content bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    reconciled_at timestamp with time zone,
    discarded_by text DEFAULT ''::text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    balances jsonb DEFAULT '[]'::jsonb NOT NULL,
    person_id uuid,
    CONSTRAINT rail_statement_format_length CHECK (((length(format) >= 1) AND (length(format) <= 40))),
    CONSTRAINT rail_statement_name_length CHECK ((length(name) <= 300)),
    CONSTRAINT rail_statement_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT rail_statement_problem_length CHECK ((length(problem) <= 2000))
);
ALTER TABLE ONLY rail_statements
    ADD CONSTRAINT rail_statements_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX rail_statements_once ON rail_statements USING btree (platform_id, connection, digest);
CREATE INDEX rail_statements_open ON rail_statements USING btree (retry_at) WHERE (reconciled_at IS NULL);
CREATE INDEX rail_statements_reconciled ON rail_statements USING btree (reconciled_at) WHERE (reconciled_at IS NOT NULL);
CREATE POLICY platform_isolation ON rail_statements USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE rail_statements ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE rail_statements TO causeway_service;
GRANT UPDATE(person_id) ON TABLE rail_statements TO causeway_service;

CREATE TABLE rail_tests (
    connection text NOT NULL,
    version integer NOT NULL,
    id bigint NOT NULL,
    passed boolean NOT NULL,
    checked text[] NOT NULL,
    problem text NOT NULL,
    tested_at timestamp with time zone NOT NULL,
    CONSTRAINT rail_test_problem_length CHECK ((length(problem) <= 2000))
);
ALTER TABLE rail_tests ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME rail_tests_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY rail_tests
    ADD CONSTRAINT rail_tests_pkey PRIMARY KEY (connection, version, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON rail_tests FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER rail_as_proposed BEFORE INSERT ON rail_tests FOR EACH ROW EXECUTE FUNCTION rail_check_test();
ALTER TABLE ONLY rail_tests
    ADD CONSTRAINT rail_tests_version_fkey FOREIGN KEY (connection, version) REFERENCES rail_connections(name, version);
GRANT SELECT,INSERT ON TABLE rail_tests TO causeway_service;

CREATE TABLE rail_usage (
    connection text NOT NULL,
    currency text NOT NULL,
    hour timestamp with time zone NOT NULL,
    rail text NOT NULL,
    amount bigint NOT NULL,
    CONSTRAINT rail_usage_not_negative CHECK ((amount >= 0))
);
ALTER TABLE ONLY rail_usage
    ADD CONSTRAINT rail_usage_pkey PRIMARY KEY (connection, currency, hour, rail);
CREATE INDEX rail_usage_by_hour ON rail_usage USING btree (hour);
GRANT SELECT,INSERT,DELETE ON TABLE rail_usage TO causeway_service;
GRANT UPDATE(amount) ON TABLE rail_usage TO causeway_service;

CREATE TABLE receipt_payers (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid,
    account text NOT NULL
);
ALTER TABLE ONLY receipt_payers
    ADD CONSTRAINT receipt_payers_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX receipt_payers_by_customer ON receipt_payers USING btree (platform_id, customer_id) WHERE (customer_id IS NOT NULL);
CREATE INDEX receipt_payers_of_nobody ON receipt_payers USING btree (platform_id, id) WHERE (customer_id IS NULL);
ALTER TABLE ONLY receipt_payers
    ADD CONSTRAINT receipt_payer_receipt_fkey FOREIGN KEY (platform_id, id) REFERENCES receipts(platform_id, id);
CREATE POLICY platform_isolation ON receipt_payers USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE receipt_payers ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE receipt_payers TO causeway_service;
GRANT UPDATE(customer_id) ON TABLE receipt_payers TO causeway_service;
GRANT UPDATE(account) ON TABLE receipt_payers TO causeway_service;

CREATE TABLE receipt_reversals (
    platform_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    partner_id text NOT NULL,
    code text NOT NULL,
    note text NOT NULL,
    reversed_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT receipt_reversal_code_length CHECK ((length(code) <= 40)),
    CONSTRAINT receipt_reversal_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT receipt_reversal_partner_id_length CHECK ((length(partner_id) <= 300))
);
ALTER TABLE ONLY receipt_reversals
    ADD CONSTRAINT receipt_reversals_pkey PRIMARY KEY (platform_id, receipt_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON receipt_reversals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY receipt_reversals
    ADD CONSTRAINT receipt_reversal_receipt_fkey FOREIGN KEY (platform_id, receipt_id) REFERENCES receipts(platform_id, id);
CREATE POLICY platform_isolation ON receipt_reversals USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE receipt_reversals ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE receipt_reversals TO causeway_service;

CREATE TABLE receipts (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    rail text NOT NULL,
    partner_id text NOT NULL,
    reference text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT receipt_amount_positive CHECK ((amount > 0))
);
ALTER TABLE ONLY receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX receipts_by_partner_id ON receipts USING btree (platform_id, rail, partner_id);
CREATE POLICY platform_isolation ON receipts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE receipts ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE receipts TO causeway_service;

CREATE TABLE receivable_changes (
    platform_id uuid NOT NULL,
    receivable_id uuid NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    amount bigint NOT NULL,
    posting_id uuid NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text DEFAULT ''::text NOT NULL,
    note text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT receivable_change_amount_positive CHECK ((amount > 0)),
    CONSTRAINT receivable_change_kind_known CHECK ((kind = ANY (ARRAY['RETURNED'::text, 'COLLECTED'::text, 'WRITTEN_OFF'::text]))),
    CONSTRAINT receivable_change_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT receivable_change_number_positive CHECK ((number > 0)),
    CONSTRAINT receivable_change_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ONLY receivable_changes
    ADD CONSTRAINT receivable_change_posting_unique UNIQUE (platform_id, posting_id);
ALTER TABLE ONLY receivable_changes
    ADD CONSTRAINT receivable_changes_pkey PRIMARY KEY (platform_id, receivable_id, number);
CREATE INDEX receivables_written_off_by_time ON receivable_changes USING btree (platform_id, changed_at) WHERE (kind = 'WRITTEN_OFF'::text);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON receivable_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON receivable_changes REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('receivable-change', 'receivable_id', 'number');
ALTER TABLE ONLY receivable_changes
    ADD CONSTRAINT receivable_change_posting_fkey FOREIGN KEY (platform_id, posting_id) REFERENCES ledger_posting_ids(platform_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY receivable_changes
    ADD CONSTRAINT receivable_change_receivable_fkey FOREIGN KEY (platform_id, receivable_id) REFERENCES receivables(platform_id, id);
CREATE POLICY platform_isolation ON receivable_changes USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE receivable_changes ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE receivable_changes TO causeway_service;

CREATE TABLE receivables (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    customer_id uuid,
    account_id uuid NOT NULL,
    account_path text NOT NULL,
    partner text NOT NULL,
    reference text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    collected bigint NOT NULL,
    written_off bigint NOT NULL,
    state text NOT NULL,
    reason_code text NOT NULL,
    partner_id text NOT NULL,
    returned_at timestamp with time zone NOT NULL,
    note text NOT NULL,
    token_id uuid,
    actor text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    person_id uuid,
    CONSTRAINT receivable_amount_positive CHECK ((amount > 0)),
    CONSTRAINT receivable_collected_not_negative CHECK ((collected >= 0)),
    CONSTRAINT receivable_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT receivable_owes_no_less_than_nothing CHECK (((amount - collected) >= written_off)),
    CONSTRAINT receivable_partner_id_length CHECK ((length(partner_id) <= 140)),
    CONSTRAINT receivable_reason_code_length CHECK (((length(reason_code) >= 1) AND (length(reason_code) <= 40))),
    CONSTRAINT receivable_state_of_amounts CHECK ((((state = 'OPEN'::text) AND (collected < amount) AND (written_off = 0)) OR ((state = 'SETTLED'::text) AND (collected = amount)) OR ((state = 'WRITTEN_OFF'::text) AND (written_off > 0) AND (collected = (amount - written_off))))),
    CONSTRAINT receivable_written_off_not_negative CHECK ((written_off >= 0))
);
ALTER TABLE ONLY receivables
    ADD CONSTRAINT receivable_transaction_unique UNIQUE (platform_id, transaction_id);
ALTER TABLE ONLY receivables
    ADD CONSTRAINT receivables_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX receivables_by_customer ON receivables USING btree (platform_id, customer_id, id);
CREATE INDEX receivables_by_partner ON receivables USING btree (platform_id, partner, returned_at);
CREATE INDEX receivables_open ON receivables USING btree (returned_at, id) WHERE (state = 'OPEN'::text);
CREATE TRIGGER ledger_evidence AFTER INSERT ON receivables REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('receivable', 'id');
ALTER TABLE ONLY receivables
    ADD CONSTRAINT receivable_transaction_fkey FOREIGN KEY (platform_id, transaction_id) REFERENCES transactions(platform_id, id);
CREATE POLICY platform_isolation ON receivables USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE receivables ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE receivables TO causeway_service;
GRANT UPDATE(collected) ON TABLE receivables TO causeway_service;
GRANT UPDATE(written_off) ON TABLE receivables TO causeway_service;
GRANT UPDATE(state) ON TABLE receivables TO causeway_service;
GRANT UPDATE(updated_at) ON TABLE receivables TO causeway_service;

CREATE TABLE reconciliation_breaks (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    reconciliation_id uuid NOT NULL,
    account text NOT NULL,
    currency text NOT NULL,
    reason text NOT NULL,
    line_id uuid,
    seq bigint,
    entry_no smallint,
    compared_line_id uuid,
    compared_seq bigint,
    compared_entry_no smallint,
    reference text NOT NULL,
    difference bigint NOT NULL,
    explanation text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT reconciliation_break_has_line_or_entry CHECK (((line_id IS NOT NULL) OR (seq IS NOT NULL))),
    CONSTRAINT reconciliation_break_reason_known CHECK ((reason = ANY (ARRAY['RETURNED'::text, 'DUPLICATE'::text, 'AMOUNT_DIFFERS'::text, 'MISSING_IN_LEDGER'::text, 'MISSING_ON_STATEMENT'::text])))
);
ALTER TABLE ONLY reconciliation_breaks
    ADD CONSTRAINT reconciliation_breaks_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX reconciliation_breaks_by_account ON reconciliation_breaks USING btree (platform_id, account, currency, id) WHERE (account <> ''::text);
CREATE INDEX reconciliation_breaks_by_line ON reconciliation_breaks USING btree (platform_id, line_id) WHERE (line_id IS NOT NULL);
CREATE INDEX reconciliation_breaks_by_reconciliation ON reconciliation_breaks USING btree (platform_id, reconciliation_id, id) WHERE (reconciliation_id IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON reconciliation_breaks FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON reconciliation_breaks USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE reconciliation_breaks ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE reconciliation_breaks TO causeway_service;

CREATE TABLE reconciliation_lines (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    reconciliation_id uuid NOT NULL,
    account text NOT NULL,
    currency text NOT NULL,
    fingerprint bytea NOT NULL,
    ordinal integer NOT NULL,
    booking_date date NOT NULL,
    value_date date NOT NULL,
    amount bigint NOT NULL,
    servicer_reference text NOT NULL,
    reference_list text NOT NULL,
    description text NOT NULL,
    returned boolean NOT NULL,
    CONSTRAINT reconciliation_line_amount_not_zero CHECK ((amount <> 0)),
    CONSTRAINT reconciliation_line_fingerprint_is_sha256 CHECK ((length(fingerprint) = 32))
);
ALTER TABLE ONLY reconciliation_lines
    ADD CONSTRAINT reconciliation_lines_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX reconciliation_line_unique ON reconciliation_lines USING btree (platform_id, account, currency, fingerprint);
CREATE INDEX reconciliation_lines_by_reconciliation ON reconciliation_lines USING btree (platform_id, reconciliation_id, id) WHERE (reconciliation_id IS NOT NULL);
CREATE INDEX reconciliation_lines_by_value_date ON reconciliation_lines USING btree (platform_id, account, currency, value_date) WHERE (value_date IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OF platform_id, id, reconciliation_id, account, currency, fingerprint, ordinal, booking_date, value_date, amount, servicer_reference, returned OR TRUNCATE ON reconciliation_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER texts_stay_encrypted BEFORE UPDATE OF reference_list, description ON reconciliation_lines FOR EACH ROW WHEN ((((new.reference_list <> old.reference_list) AND ("left"(new.reference_list, 1) <> ''::text)) OR ((new.description <> old.description) AND ("left"(new.description, 1) <> ''::text)))) EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON reconciliation_lines USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE reconciliation_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE reconciliation_lines TO causeway_service;
GRANT UPDATE(reference_list) ON TABLE reconciliation_lines TO causeway_service;
GRANT UPDATE(description) ON TABLE reconciliation_lines TO causeway_service;

CREATE TABLE reconciliation_matched_entries (
    platform_id uuid NOT NULL,
    account text NOT NULL,
    seq bigint NOT NULL,
    entry_no smallint NOT NULL,
    match_id uuid NOT NULL
);
ALTER TABLE ONLY reconciliation_matched_entries
    ADD CONSTRAINT reconciliation_matched_entries_pkey PRIMARY KEY (platform_id, account, seq, entry_no);
CREATE INDEX reconciliation_matched_entries_by_match ON reconciliation_matched_entries USING btree (platform_id, match_id) WHERE (match_id IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON reconciliation_matched_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON reconciliation_matched_entries USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE reconciliation_matched_entries ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE reconciliation_matched_entries TO causeway_service;

CREATE TABLE reconciliation_matched_lines (
    platform_id uuid NOT NULL,
    line_id uuid NOT NULL,
    match_id uuid NOT NULL
);
ALTER TABLE ONLY reconciliation_matched_lines
    ADD CONSTRAINT reconciliation_matched_lines_pkey PRIMARY KEY (platform_id, line_id);
CREATE INDEX reconciliation_matched_lines_by_match ON reconciliation_matched_lines USING btree (platform_id, match_id) WHERE (match_id IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON reconciliation_matched_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON reconciliation_matched_lines USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE reconciliation_matched_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE reconciliation_matched_lines TO causeway_service;

CREATE TABLE reconciliation_matches (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    reconciliation_id uuid NOT NULL,
    rule text NOT NULL,
    reference text NOT NULL,
    day_difference smallint NOT NULL,
    explanation text NOT NULL
);
ALTER TABLE ONLY reconciliation_matches
    ADD CONSTRAINT reconciliation_matches_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX reconciliation_matches_by_reconciliation ON reconciliation_matches USING btree (platform_id, reconciliation_id) WHERE (reconciliation_id IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON reconciliation_matches FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON reconciliation_matches USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE reconciliation_matches ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE reconciliation_matches TO causeway_service;

CREATE TABLE reconciliation_resolutions (
    platform_id uuid NOT NULL,
    break_id uuid NOT NULL,
    method text NOT NULL,
    note text NOT NULL,
    posting_id uuid,
    reconciliation_id uuid,
    resolved_by text NOT NULL,
    resolved_at timestamp with time zone NOT NULL,
    actor text DEFAULT ''::text,
    proposal_id uuid,
    approver_token_id uuid,
    approver text,
    person_id uuid,
    CONSTRAINT reconciliation_resolution_has_note CHECK (((note <> ''::text) OR (method = ANY (ARRAY['MATCH'::text, 'BREAK'::text])))),
    CONSTRAINT reconciliation_resolution_method_known CHECK ((method = ANY (ARRAY['NOTE'::text, 'POSTING'::text, 'MATCH'::text, 'BREAK'::text]))),
    CONSTRAINT reconciliation_resolution_posting_has_id CHECK (((method = 'POSTING'::text) = (posting_id IS NOT NULL))),
    CONSTRAINT reconciliation_resolution_two_tokens CHECK ((resolved_by <> ('Token:'::text || (approver_token_id)::text)))
);
ALTER TABLE ONLY reconciliation_resolutions
    ADD CONSTRAINT reconciliation_resolutions_pkey PRIMARY KEY (platform_id, break_id);
CREATE INDEX reconciliation_resolutions_by_time ON reconciliation_resolutions USING btree (platform_id, resolved_at);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON reconciliation_resolutions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON reconciliation_resolutions REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('resolution', 'break_id');
CREATE POLICY platform_isolation ON reconciliation_resolutions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE reconciliation_resolutions ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE reconciliation_resolutions TO causeway_service;

CREATE TABLE reconciliations (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    account text NOT NULL,
    currency text NOT NULL,
    format text NOT NULL,
    digest bytea NOT NULL,
    statement_ids text NOT NULL,
    partner_account text NOT NULL,
    first_day date NOT NULL,
    last_day date NOT NULL,
    opening bigint,
    closing bigint,
    line_count integer NOT NULL,
    known_line_count integer NOT NULL,
    ignored_line_count integer NOT NULL,
    matches text NOT NULL,
    breaks text NOT NULL,
    matched_line_count integer NOT NULL,
    matched_entry_count integer NOT NULL,
    earlier_breaks_resolved integer NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    mismatches text DEFAULT ''::text NOT NULL,
    override_note text DEFAULT ''::text NOT NULL,
    ledger_balance bigint,
    open_breaks_amount bigint,
    other_day_amount bigint,
    resolved_amount bigint,
    CONSTRAINT reconciliation_days_in_order CHECK ((first_day <= last_day)),
    CONSTRAINT reconciliation_digest_is_sha256 CHECK ((length(digest) = 32))
);
ALTER TABLE ONLY reconciliations
    ADD CONSTRAINT reconciliations_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX reconciliation_file_unique ON reconciliations USING btree (platform_id, account, currency, digest);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON reconciliations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON reconciliations REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('reconciliation', 'id');
CREATE TRIGGER ledger_evidence_matches AFTER INSERT ON reconciliations REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('reconciliation-matches', 'id');
CREATE POLICY platform_isolation ON reconciliations USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE reconciliations ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE reconciliations TO causeway_service;

CREATE TABLE refunds_sent_again (
    platform_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    transaction_id uuid NOT NULL
);
ALTER TABLE ONLY refunds_sent_again
    ADD CONSTRAINT refunds_sent_again_pkey PRIMARY KEY (platform_id, receipt_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON refunds_sent_again FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY refunds_sent_again
    ADD CONSTRAINT refunds_sent_again_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON refunds_sent_again USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE refunds_sent_again ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE refunds_sent_again TO causeway_service;

CREATE TABLE request_log (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    token_id uuid,
    agent_id uuid,
    arrived_at timestamp with time zone NOT NULL,
    duration_us bigint NOT NULL,
    method text NOT NULL,
    operation text NOT NULL,
    route text NOT NULL,
    path text NOT NULL,
    query text NOT NULL,
    status smallint NOT NULL,
    code text NOT NULL,
    message text NOT NULL,
    request_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    replayed boolean NOT NULL,
    request_type text NOT NULL,
    request_size bigint NOT NULL,
    request_body text NOT NULL,
    request_cut boolean NOT NULL,
    response_type text NOT NULL,
    response_size bigint NOT NULL,
    response_body text NOT NULL,
    response_cut boolean NOT NULL,
    lost_before bigint NOT NULL,
    subject_id uuid,
    CONSTRAINT request_log_has_one_caller CHECK (((token_id IS NULL) <> (agent_id IS NULL)))
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY request_log ALTER COLUMN request_body SET COMPRESSION lz4;
ALTER TABLE ONLY request_log ALTER COLUMN response_body SET COMPRESSION lz4;
ALTER TABLE ONLY request_log ATTACH PARTITION request_log_default DEFAULT;
ALTER TABLE ONLY request_log ATTACH PARTITION request_log_first FOR VALUES FROM (MINVALUE) TO (...);
ALTER TABLE ONLY request_log
    ADD CONSTRAINT request_log_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX request_log_by_key ON ONLY request_log USING btree (platform_id, idempotency_key, id) WHERE (idempotency_key <> ''::text);
CREATE INDEX request_log_by_operation ON ONLY request_log USING btree (platform_id, operation, id);
CREATE INDEX request_log_by_request ON ONLY request_log USING btree (platform_id, request_id);
CREATE INDEX request_log_by_subject ON ONLY request_log USING btree (platform_id, subject_id, id) WHERE (subject_id IS NOT NULL);
CREATE INDEX request_log_failed ON ONLY request_log USING btree (platform_id, id) WHERE (status >= 400);
CREATE INDEX request_log_server_failed ON ONLY request_log USING btree (platform_id, id) WHERE (status >= 500);
CREATE POLICY platform_isolation ON request_log USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE request_log ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE request_log TO causeway_service;

ALTER TABLE request_log_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE request_log_first ENABLE ROW LEVEL SECURITY;

CREATE TABLE safeguarding_acknowledgements (
    platform_id uuid NOT NULL,
    day date NOT NULL,
    version integer NOT NULL,
    id bigint NOT NULL,
    acknowledged_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text DEFAULT ''::text NOT NULL,
    note text NOT NULL,
    person_id uuid,
    CONSTRAINT safeguarding_acknowledgement_note_length CHECK (((length(btrim(note)) >= 1) AND (length(btrim(note)) <= 500)))
);
ALTER TABLE safeguarding_acknowledgements ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME safeguarding_acknowledgements_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY safeguarding_acknowledgements
    ADD CONSTRAINT safeguarding_acknowledgements_pkey PRIMARY KEY (platform_id, day, version, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON safeguarding_acknowledgements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_acknowledgements REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-acknowledgement', 'day', 'version', 'id');
ALTER TABLE ONLY safeguarding_acknowledgements
    ADD CONSTRAINT safeguarding_acknowledgement_report_fkey FOREIGN KEY (platform_id, day, version) REFERENCES safeguarding_reports(platform_id, day, version);
CREATE POLICY platform_isolation ON safeguarding_acknowledgements USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE safeguarding_acknowledgements ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE safeguarding_acknowledgements TO causeway_service;

CREATE TABLE safeguarding_purposes (
    platform_id uuid NOT NULL,
    account text NOT NULL,
    version integer NOT NULL,
    purpose text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text DEFAULT ''::text NOT NULL,
    note text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT safeguarding_purpose_known CHECK ((purpose = ANY (ARRAY['CLIENT'::text, 'OWN'::text]))),
    CONSTRAINT safeguarding_purpose_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT safeguarding_purpose_two_tokens CHECK ((approver_token_id <> token_id)),
    CONSTRAINT safeguarding_purpose_version_positive CHECK ((version > 0))
);
ALTER TABLE ONLY safeguarding_purposes
    ADD CONSTRAINT safeguarding_purposes_pkey PRIMARY KEY (platform_id, account, version);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON safeguarding_purposes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_purposes REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-purpose', 'account', 'version');
CREATE POLICY platform_isolation ON safeguarding_purposes USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE safeguarding_purposes ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE safeguarding_purposes TO causeway_service;

CREATE TABLE safeguarding_report_lines (
    platform_id uuid NOT NULL,
    day date NOT NULL,
    version integer NOT NULL,
    section text NOT NULL,
    path text NOT NULL,
    currency text NOT NULL,
    amount numeric NOT NULL,
    confirmation text,
    manual numeric,
    manual_since date,
    CONSTRAINT safeguarding_report_line_confirmation_known CHECK ((confirmation = ANY (ARRAY['STATEMENT'::text, 'RAIL_PROOF'::text, 'SANDBOX'::text, 'IN_TRANSIT'::text, 'NOTHING_HELD'::text, 'NONE'::text]))),
    CONSTRAINT safeguarding_report_line_confirmation_whole CHECK ((((confirmation IS NULL) = (manual IS NULL)) AND ((confirmation IS NULL) = (manual_since IS NULL)) AND ((confirmation IS NULL) OR (section = 'RESOURCE'::text)))),
    CONSTRAINT safeguarding_report_line_section_known CHECK ((section = ANY (ARRAY['REQUIREMENT'::text, 'RESOURCE'::text, 'OWN_FUNDS'::text])))
);
ALTER TABLE ONLY safeguarding_report_lines
    ADD CONSTRAINT safeguarding_report_lines_pkey PRIMARY KEY (platform_id, day, version, section, path, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON safeguarding_report_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY safeguarding_report_lines
    ADD CONSTRAINT safeguarding_report_line_report_fkey FOREIGN KEY (platform_id, day, version) REFERENCES safeguarding_reports(platform_id, day, version);
CREATE POLICY platform_isolation ON safeguarding_report_lines USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE safeguarding_report_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE safeguarding_report_lines TO causeway_service;

CREATE TABLE safeguarding_report_statements (
    platform_id uuid NOT NULL,
    day date NOT NULL,
    version integer NOT NULL,
    path text NOT NULL,
    currency text NOT NULL,
    reconciliation_id uuid NOT NULL,
    statement_date date NOT NULL,
    closing numeric,
    difference numeric,
    open_breaks integer NOT NULL,
    CONSTRAINT safeguarding_report_statement_difference_with_closing CHECK (((closing IS NULL) = (difference IS NULL)))
);
ALTER TABLE ONLY safeguarding_report_statements
    ADD CONSTRAINT safeguarding_report_statements_pkey PRIMARY KEY (platform_id, day, version, path, currency);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON safeguarding_report_statements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY safeguarding_report_statements
    ADD CONSTRAINT safeguarding_report_statement_report_fkey FOREIGN KEY (platform_id, day, version) REFERENCES safeguarding_reports(platform_id, day, version);
CREATE POLICY platform_isolation ON safeguarding_report_statements USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE safeguarding_report_statements ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE safeguarding_report_statements TO causeway_service;

CREATE TABLE safeguarding_reports (
    platform_id uuid NOT NULL,
    day date NOT NULL,
    version integer NOT NULL,
    as_of timestamp with time zone NOT NULL,
    made_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text DEFAULT ''::text NOT NULL,
    seq bigint NOT NULL,
    posting_digest bytea,
    log_checkpoint text,
    shortfalls text[] NOT NULL,
    value_currency text DEFAULT ''::text NOT NULL,
    rates_kept_at timestamp with time zone,
    value_missing text[] NOT NULL,
    requirement_value numeric NOT NULL,
    resource_value numeric NOT NULL,
    digest bytea NOT NULL,
    person_id uuid,
    CONSTRAINT safeguarding_report_digest_is_sha256 CHECK ((length(digest) = 32)),
    CONSTRAINT safeguarding_report_digest_of_last_posting CHECK (((seq = 0) = (posting_digest IS NULL))),
    CONSTRAINT safeguarding_report_posting_digest_is_sha256 CHECK ((length(posting_digest) = 32)),
    CONSTRAINT safeguarding_report_version_positive CHECK ((version > 0))
);
ALTER TABLE ONLY safeguarding_reports
    ADD CONSTRAINT safeguarding_reports_pkey PRIMARY KEY (platform_id, day, version);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON safeguarding_reports FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_reports REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-report', 'day', 'version');
CREATE POLICY platform_isolation ON safeguarding_reports USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE safeguarding_reports ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE safeguarding_reports TO causeway_service;

CREATE TABLE sample_times (
    sampled_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY sample_times
    ADD CONSTRAINT sample_times_pkey PRIMARY KEY (sampled_at);
GRANT SELECT,INSERT,DELETE ON TABLE sample_times TO causeway_service;

CREATE TABLE samples (
    platform_id uuid NOT NULL,
    sampled_at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    counts bigint[] NOT NULL,
    CONSTRAINT sample_kind_known CHECK ((kind = ANY (ARRAY['JOBS'::text, 'WEBHOOKS'::text, 'WEBHOOK_AGE'::text, 'RAIL_PAYMENTS'::text, 'RAIL_CALLS'::text])))
);
ALTER TABLE ONLY samples
    ADD CONSTRAINT samples_pkey PRIMARY KEY (platform_id, sampled_at, kind, name);
CREATE POLICY platform_isolation ON samples USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE samples ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE samples TO causeway_service;
GRANT UPDATE(counts) ON TABLE samples TO causeway_service;

CREATE TABLE sanctions_entries (
    list_id uuid NOT NULL,
    ref text NOT NULL,
    content jsonb NOT NULL
);
ALTER TABLE ONLY sanctions_entries
    ADD CONSTRAINT sanctions_entries_pkey PRIMARY KEY (list_id, ref);
ALTER TABLE ONLY sanctions_entries
    ADD CONSTRAINT sanctions_entries_list_id_fkey FOREIGN KEY (list_id) REFERENCES sanctions_lists(id);
GRANT SELECT,INSERT,DELETE ON TABLE sanctions_entries TO causeway_service;

CREATE TABLE sanctions_lists (
    id uuid NOT NULL,
    list text NOT NULL,
    published_at timestamp with time zone,
    sha256 text NOT NULL,
    entries integer NOT NULL,
    actor text NOT NULL,
    loaded_at timestamp with time zone NOT NULL,
    person_id uuid,
    CONSTRAINT sanctions_list_actor_length CHECK (((length(actor) >= 1) AND (length(actor) <= 200))),
    CONSTRAINT sanctions_list_has_entries CHECK ((entries > 0)),
    CONSTRAINT sanctions_list_known CHECK ((list = ANY (ARRAY['ofac'::text, 'eu'::text])))
);
ALTER TABLE ONLY sanctions_lists
    ADD CONSTRAINT sanctions_lists_pkey PRIMARY KEY (id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON sanctions_lists FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT,INSERT ON TABLE sanctions_lists TO causeway_service;

CREATE TABLE saved_filters (
    platform_id uuid NOT NULL,
    person_id uuid NOT NULL,
    list text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    CONSTRAINT saved_filter_list_length CHECK (((length(list) >= 1) AND (length(list) <= 40))),
    CONSTRAINT saved_filter_name_length CHECK (((length(name) >= 1) AND (length(name) <= 60))),
    CONSTRAINT saved_filter_query_length CHECK ((length(query) <= 1000))
);
ALTER TABLE ONLY saved_filters
    ADD CONSTRAINT saved_filters_pkey PRIMARY KEY (platform_id, person_id, list, name);
ALTER TABLE ONLY saved_filters
    ADD CONSTRAINT saved_filter_person_fkey FOREIGN KEY (person_id) REFERENCES people(id);
ALTER TABLE ONLY saved_filters
    ADD CONSTRAINT saved_filter_platform_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON saved_filters USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE saved_filters ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE saved_filters TO causeway_service;

CREATE TABLE sca_accounts (
    platform_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    failed_logins integer DEFAULT 0 NOT NULL,
    failed_sms integer DEFAULT 0 NOT NULL,
    failed_totp integer DEFAULT 0 NOT NULL,
    failed_passkeys integer DEFAULT 0 NOT NULL,
    locked_until timestamp with time zone,
    suspended_at timestamp with time zone,
    burst_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    hour_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT sca_account_logins_not_negative CHECK ((failed_logins >= 0)),
    CONSTRAINT sca_account_passkeys_not_negative CHECK ((failed_passkeys >= 0)),
    CONSTRAINT sca_account_sms_not_negative CHECK ((failed_sms >= 0)),
    CONSTRAINT sca_account_totp_not_negative CHECK ((failed_totp >= 0))
);
ALTER TABLE ONLY sca_accounts
    ADD CONSTRAINT sca_accounts_pkey PRIMARY KEY (platform_id, customer_id);
ALTER TABLE ONLY sca_accounts
    ADD CONSTRAINT sca_accounts_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON sca_accounts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sca_accounts ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sca_accounts TO causeway_service;

CREATE TABLE sca_challenges (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    purpose text NOT NULL,
    subject bytea NOT NULL,
    factor text NOT NULL,
    code_hash bytea NOT NULL,
    passkey_challenge bytea NOT NULL,
    attempts smallint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT sca_challenge_attempts_not_negative CHECK ((attempts >= 0)),
    CONSTRAINT sca_challenge_code_is_sha256 CHECK ((length(code_hash) = 32)),
    CONSTRAINT sca_challenge_factor_known CHECK ((factor = ANY (ARRAY['SMS_OTP'::text, 'TOTP'::text, 'PASSKEY'::text]))),
    CONSTRAINT sca_challenge_passkey_length CHECK ((length(passkey_challenge) = ANY (ARRAY[0, 64]))),
    CONSTRAINT sca_challenge_purpose_length CHECK (((length(purpose) >= 1) AND (length(purpose) <= 40))),
    CONSTRAINT sca_challenge_subject_is_sha256 CHECK ((length(subject) = 32))
);
ALTER TABLE ONLY sca_challenges
    ADD CONSTRAINT sca_challenges_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX sca_challenges_by_customer ON sca_challenges USING btree (platform_id, customer_id, purpose, subject, id);
ALTER TABLE ONLY sca_challenges
    ADD CONSTRAINT sca_challenges_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON sca_challenges USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sca_challenges ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sca_challenges TO causeway_service;

CREATE TABLE sca_credentials (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    factor text NOT NULL,
    totp_secret text NOT NULL,
    totp_step bigint NOT NULL,
    recovery_codes bytea NOT NULL,
    passkey_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    transports text[] NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT sca_credential_factor_known CHECK ((factor = ANY (ARRAY['TOTP'::text, 'PASSKEY'::text]))),
    CONSTRAINT sca_credential_passkey_id_length CHECK ((length(passkey_id) <= 1023)),
    CONSTRAINT sca_credential_public_key_length CHECK ((length(public_key) <= 1024)),
    CONSTRAINT sca_credential_recovery_codes_are_sha256 CHECK (((length(recovery_codes) % 32) = 0))
);
ALTER TABLE ONLY sca_credentials
    ADD CONSTRAINT sca_credential_one_of_each UNIQUE (platform_id, customer_id, factor);
ALTER TABLE ONLY sca_credentials
    ADD CONSTRAINT sca_credentials_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE ONLY sca_credentials
    ADD CONSTRAINT sca_credentials_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON sca_credentials USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sca_credentials ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sca_credentials TO causeway_service;

CREATE TABLE sca_resets (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    factor text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    CONSTRAINT sca_reset_factor_known CHECK ((factor = ANY (ARRAY['SMS_OTP'::text, 'TOTP'::text, 'PASSKEY'::text]))),
    CONSTRAINT sca_reset_status_length CHECK (((length(status) >= 1) AND (length(status) <= 40)))
);
ALTER TABLE ONLY sca_resets
    ADD CONSTRAINT sca_resets_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX sca_resets_by_customer ON sca_resets USING btree (platform_id, customer_id, id);
CREATE INDEX sca_resets_open ON sca_resets USING btree (platform_id, expires_at) WHERE (status = ANY (ARRAY['INITIATED'::text, 'PENDING_REVIEW'::text]));
ALTER TABLE ONLY sca_resets
    ADD CONSTRAINT sca_resets_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON sca_resets USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sca_resets ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sca_resets TO causeway_service;

CREATE TABLE sca_sessions (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    factor text NOT NULL,
    ip_address text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT sca_session_factor_known CHECK ((factor = ANY (ARRAY['SMS_OTP'::text, 'TOTP'::text, 'PASSKEY'::text])))
);
ALTER TABLE ONLY sca_sessions
    ADD CONSTRAINT sca_sessions_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX sca_sessions_by_customer ON sca_sessions USING btree (platform_id, customer_id, expires_at);
ALTER TABLE ONLY sca_sessions
    ADD CONSTRAINT sca_sessions_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON sca_sessions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sca_sessions ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sca_sessions TO causeway_service;

CREATE TABLE schema_migrations (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE schema_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME schema_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (id);
GRANT SELECT ON TABLE schema_migrations TO causeway_service;

CREATE TABLE screening_hits (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    owner_id uuid,
    list text NOT NULL,
    ref text NOT NULL,
    list_id uuid NOT NULL,
    status text NOT NULL,
    score integer NOT NULL,
    details jsonb NOT NULL,
    found_at timestamp with time zone NOT NULL,
    CONSTRAINT screening_hit_list_known CHECK ((list = ANY (ARRAY['ofac'::text, 'eu'::text]))),
    CONSTRAINT screening_hit_score_range CHECK (((score >= 0) AND (score <= 100))),
    CONSTRAINT screening_hit_status_known CHECK ((status = ANY (ARRAY['OPEN'::text, 'CLEARED'::text, 'CONFIRMED'::text])))
);
ALTER TABLE ONLY screening_hits
    ADD CONSTRAINT screening_hit_once UNIQUE NULLS NOT DISTINCT (platform_id, customer_id, owner_id, list, ref);
ALTER TABLE ONLY screening_hits
    ADD CONSTRAINT screening_hits_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX screening_hits_open ON screening_hits USING btree (platform_id, found_at, id) WHERE (status = 'OPEN'::text);
ALTER TABLE ONLY screening_hits
    ADD CONSTRAINT screening_hit_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY screening_hits
    ADD CONSTRAINT screening_hits_list_id_fkey FOREIGN KEY (list_id) REFERENCES sanctions_lists(id);
ALTER TABLE ONLY screening_hits
    ADD CONSTRAINT screening_hits_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON screening_hits USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE screening_hits ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE screening_hits TO causeway_service;

CREATE TABLE screening_runs (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    list_id uuid NOT NULL,
    status text NOT NULL,
    after_id uuid NOT NULL,
    total integer NOT NULL,
    customers integer DEFAULT 0 NOT NULL,
    owners integer DEFAULT 0 NOT NULL,
    hits integer DEFAULT 0 NOT NULL,
    started_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT screening_run_status_known CHECK ((status = ANY (ARRAY['RUNNING'::text, 'COMPLETED'::text, 'REPLACED'::text])))
);
ALTER TABLE ONLY screening_runs
    ADD CONSTRAINT screening_runs_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE ONLY screening_runs
    ADD CONSTRAINT screening_runs_list_id_fkey FOREIGN KEY (list_id) REFERENCES sanctions_lists(id);
ALTER TABLE ONLY screening_runs
    ADD CONSTRAINT screening_runs_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON screening_runs USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE screening_runs ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE screening_runs TO causeway_service;

CREATE TABLE search_keys (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    object_id uuid NOT NULL,
    hash text NOT NULL,
    CONSTRAINT search_key_kind_known CHECK ((kind = ANY (ARRAY['CUSTOMER'::text, 'EXTERNAL_ACCOUNT'::text])))
);
ALTER TABLE ONLY search_keys
    ADD CONSTRAINT search_keys_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX search_keys_by_hash ON search_keys USING btree (platform_id, hash, kind, object_id);
CREATE INDEX search_keys_by_object ON search_keys USING btree (platform_id, kind, object_id);
ALTER TABLE ONLY search_keys
    ADD CONSTRAINT search_key_platform_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON search_keys USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE search_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE search_keys TO causeway_service;
GRANT UPDATE(hash) ON TABLE search_keys TO causeway_service;

CREATE TABLE search_queue (
    platform_id uuid NOT NULL,
    kind text NOT NULL,
    object_id uuid NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    CONSTRAINT search_queue_kind_known CHECK ((kind = ANY (ARRAY['CUSTOMER'::text, 'EXTERNAL_ACCOUNT'::text, 'CUSTOMERS'::text, 'EXTERNAL_ACCOUNTS'::text])))
);
ALTER TABLE ONLY search_queue
    ADD CONSTRAINT search_queue_pkey PRIMARY KEY (platform_id, kind, object_id);
ALTER TABLE ONLY search_queue
    ADD CONSTRAINT search_queue_platform_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON search_queue USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE search_queue ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE search_queue TO causeway_service;

CREATE TABLE sign_in_attempts (
    address_hash bytea NOT NULL,
    failed integer NOT NULL,
    last_at timestamp with time zone,
    CONSTRAINT sign_in_attempt_address_is_sha256 CHECK ((length(address_hash) = 32))
);
ALTER TABLE ONLY sign_in_attempts
    ADD CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (address_hash);
CREATE INDEX sign_in_attempts_by_last_at ON sign_in_attempts USING btree (last_at);
CREATE POLICY platform_isolation ON sign_in_attempts USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sign_in_attempts ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sign_in_attempts TO causeway_service;

CREATE TABLE sign_in_challenges (
    challenge_hash bytea NOT NULL,
    purpose text NOT NULL,
    person_id uuid,
    holder_hash bytea NOT NULL,
    action text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sign_in_challenge_action_length CHECK ((length(action) <= 2000)),
    CONSTRAINT sign_in_challenge_holder_is_sha256 CHECK ((length(holder_hash) = 32)),
    CONSTRAINT sign_in_challenge_is_sha256 CHECK ((length(challenge_hash) = 32)),
    CONSTRAINT sign_in_challenge_purpose_length CHECK (((length(purpose) >= 1) AND (length(purpose) <= 40)))
);
ALTER TABLE ONLY sign_in_challenges
    ADD CONSTRAINT sign_in_challenges_pkey PRIMARY KEY (challenge_hash);
CREATE INDEX sign_in_challenges_by_expires_at ON sign_in_challenges USING btree (expires_at);
CREATE INDEX sign_in_challenges_by_person ON sign_in_challenges USING btree (person_id);
ALTER TABLE ONLY sign_in_challenges
    ADD CONSTRAINT sign_in_challenge_person_fkey FOREIGN KEY (person_id) REFERENCES people(id);
CREATE POLICY platform_isolation ON sign_in_challenges USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sign_in_challenges ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sign_in_challenges TO causeway_service;

CREATE TABLE sign_in_requests (
    code text NOT NULL,
    token_hash bytea NOT NULL,
    requested_from text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT sign_in_request_code_form CHECK ((code ~ '^[B-Z]{8}$'::text)),
    CONSTRAINT sign_in_request_from_length CHECK ((length(requested_from) <= 200)),
    CONSTRAINT sign_in_request_token_is_sha256 CHECK ((length(token_hash) = 32))
);
ALTER TABLE ONLY sign_in_requests
    ADD CONSTRAINT sign_in_requests_pkey PRIMARY KEY (code);
CREATE INDEX sign_in_requests_by_expires_at ON sign_in_requests USING btree (expires_at);
CREATE POLICY platform_isolation ON sign_in_requests USING ((false OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE sign_in_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE sign_in_requests TO causeway_service;

CREATE TABLE tokens (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    permissions text[] NOT NULL,
    client_id text NOT NULL,
    secret_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    person_id uuid,
    creator_id uuid,
    CONSTRAINT token_secret_hash_is_sha256 CHECK ((length(secret_hash) = 32))
);
ALTER TABLE ONLY tokens
    ADD CONSTRAINT token_client_id_unique UNIQUE (client_id);
ALTER TABLE ONLY tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (platform_id, id);
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR DELETE OR UPDATE ON tokens FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('token');
ALTER TABLE ONLY tokens
    ADD CONSTRAINT token_creator_fkey FOREIGN KEY (creator_id) REFERENCES people(id) NOT VALID;
ALTER TABLE ONLY tokens
    ADD CONSTRAINT token_person_fkey FOREIGN KEY (person_id) REFERENCES people(id) NOT VALID;
ALTER TABLE ONLY tokens
    ADD CONSTRAINT tokens_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON tokens USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE tokens TO causeway_service;

CREATE TABLE transaction_statuses (
    platform_id uuid NOT NULL,
    status text NOT NULL,
    direction text NOT NULL,
    id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.1');
ALTER TABLE ONLY transaction_statuses
    ADD CONSTRAINT transaction_statuses_pkey PRIMARY KEY (platform_id, status, direction, id);
CREATE POLICY platform_isolation ON transaction_statuses USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE transaction_statuses ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON TABLE transaction_statuses TO causeway_service;

CREATE TABLE transactions (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    quote_id uuid,
    customer_id uuid,
    direction text NOT NULL,
    status text NOT NULL,
    refund_status text NOT NULL,
    stage text NOT NULL,
    failure_reason text NOT NULL,
    source_external uuid,
    source_internal uuid,
    destination_external uuid,
    destination_internal uuid,
    source_rail text NOT NULL,
    source_account text NOT NULL,
    destination_rail text NOT NULL,
    destination_account text NOT NULL,
    receipt_id uuid,
    sent_currency text NOT NULL,
    sent_minor bigint NOT NULL,
    received_currency text NOT NULL,
    received_minor bigint NOT NULL,
    funded_currency text DEFAULT ''::text NOT NULL,
    funded_minor bigint DEFAULT 0 NOT NULL,
    refund_reason text DEFAULT ''::text NOT NULL,
    refund_at timestamp with time zone,
    refund_settled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    source_uma text NOT NULL,
    destination_uma text NOT NULL,
    reference text NOT NULL,
    details text NOT NULL,
    agent_id uuid,
    usage_day date,
    usage_given_back boolean,
    expected_settlement_at timestamp with time zone,
    payee_seal text DEFAULT ''::text NOT NULL,
    traceparent text,
    receipt_confirmed_at timestamp with time zone,
    limit_day date,
    limit_scopes text,
    payer_authorization text,
    rail_selection text,
    in_review boolean,
    refund_again text,
    CONSTRAINT transaction_received_positive CHECK ((received_minor > 0)),
    CONSTRAINT transaction_sent_positive CHECK ((sent_minor > 0)),
    CONSTRAINT transaction_usage_of_agent CHECK ((((usage_day IS NULL) = (usage_given_back IS NULL)) AND ((usage_day IS NULL) OR (agent_id IS NOT NULL))))
)
WITH (fillfactor='80');
ALTER TABLE transactions
    ADD CONSTRAINT transaction_payer_authorization_known CHECK ((payer_authorization = ANY (ARRAY['REQUIRED'::text, 'AUTHORIZED'::text, 'EXEMPT'::text]))) NOT VALID;
ALTER TABLE transactions
    ADD CONSTRAINT transaction_rail_selection_known CHECK ((rail_selection = ANY (ARRAY['AUTO'::text, 'MANUAL'::text]))) NOT VALID;
ALTER TABLE transactions
    ADD CONSTRAINT transaction_status_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'PENDING_AUTHORIZATION'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text, 'EXPIRED'::text]))) NOT VALID;
ALTER TABLE ONLY transactions
    ADD CONSTRAINT transactions_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX transactions_by_agent ON transactions USING btree (platform_id, agent_id, id) WHERE (agent_id IS NOT NULL);
CREATE INDEX transactions_by_customer ON transactions USING btree (platform_id, customer_id, id) WHERE (customer_id IS NOT NULL);
CREATE INDEX transactions_by_destination_external ON transactions USING btree (platform_id, destination_external, id) WHERE (destination_external IS NOT NULL);
CREATE INDEX transactions_by_destination_internal ON transactions USING btree (platform_id, destination_internal, id) WHERE (destination_internal IS NOT NULL);
CREATE INDEX transactions_by_destination_uma ON transactions USING btree (platform_id, destination_uma, id) WHERE (destination_uma <> ''::text);
CREATE INDEX transactions_by_platform ON transactions USING btree (platform_id, id) WHERE (customer_id IS NULL);
CREATE INDEX transactions_by_received_amount ON transactions USING btree (platform_id, received_minor, received_currency, id) WHERE (received_minor IS NOT NULL);
CREATE INDEX transactions_by_reference ON transactions USING btree (platform_id, reference, id) WHERE (reference <> ''::text);
CREATE INDEX transactions_by_sent ON transactions USING btree (platform_id, sent_minor, sent_currency, id) WHERE (direction = 'OUTGOING'::text);
CREATE INDEX transactions_by_source_external ON transactions USING btree (platform_id, source_external, id) WHERE (source_external IS NOT NULL);
CREATE INDEX transactions_by_source_internal ON transactions USING btree (platform_id, source_internal, id) WHERE (source_internal IS NOT NULL);
CREATE INDEX transactions_by_source_uma ON transactions USING btree (platform_id, source_uma, id) WHERE (source_uma <> ''::text);
CREATE INDEX transactions_created_late ON transactions USING btree (platform_id, created_at) WHERE ((created_at - uuid_v7_time(id)) > '02:00:00'::interval);
CREATE TRIGGER add_statuses AFTER INSERT ON transactions REFERENCING NEW TABLE AS new_transactions FOR EACH STATEMENT EXECUTE FUNCTION add_transaction_statuses();
CREATE TRIGGER change_status AFTER UPDATE ON transactions FOR EACH ROW WHEN ((old.status <> new.status)) EXECUTE FUNCTION change_transaction_status();
CREATE TRIGGER delete_status AFTER DELETE ON transactions FOR EACH ROW EXECUTE FUNCTION delete_transaction_status();
CREATE TRIGGER payment_authorized BEFORE UPDATE OF status ON transactions FOR EACH ROW WHEN (((new.payer_authorization IS NOT NULL) AND (old.status = ANY (ARRAY['PENDING'::text, 'PENDING_AUTHORIZATION'::text, 'EXPIRED'::text])) AND (new.status = ANY (ARRAY['PROCESSING'::text, 'COMPLETED'::text])))) EXECUTE FUNCTION require_payment_authorization();
CREATE TRIGGER wallet_authorized BEFORE UPDATE OF status ON transactions FOR EACH ROW WHEN (((old.status = 'PENDING'::text) AND (new.status = ANY (ARRAY['PROCESSING'::text, 'COMPLETED'::text])) AND starts_with(new.source_account, 'wallets/'::text))) EXECUTE FUNCTION require_wallet_authorization();
CREATE POLICY platform_isolation ON transactions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE transactions ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,UPDATE ON TABLE transactions TO causeway_service;

CREATE TABLE treasury_arrivals (
    platform_id uuid NOT NULL,
    movement_id uuid NOT NULL,
    posting_id uuid NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    arrived_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text DEFAULT ''::text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT treasury_arrival_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ONLY treasury_arrivals
    ADD CONSTRAINT treasury_arrival_posting_unique UNIQUE (platform_id, posting_id);
ALTER TABLE ONLY treasury_arrivals
    ADD CONSTRAINT treasury_arrivals_pkey PRIMARY KEY (platform_id, movement_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON treasury_arrivals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON treasury_arrivals REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('treasury-arrival', 'movement_id');
ALTER TABLE ONLY treasury_arrivals
    ADD CONSTRAINT treasury_arrival_movement_fkey FOREIGN KEY (platform_id, movement_id) REFERENCES treasury_movements(platform_id, id);
ALTER TABLE ONLY treasury_arrivals
    ADD CONSTRAINT treasury_arrival_posting_fkey FOREIGN KEY (platform_id, posting_id) REFERENCES ledger_posting_ids(platform_id, id) DEFERRABLE INITIALLY DEFERRED;
CREATE POLICY platform_isolation ON treasury_arrivals USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE treasury_arrivals ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE treasury_arrivals TO causeway_service;

CREATE TABLE treasury_movements (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    from_account text NOT NULL,
    to_account text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    bought_currency text,
    bought_amount bigint,
    in_transit boolean NOT NULL,
    allow_overdraft boolean NOT NULL,
    note text NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    posting_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    token_id uuid,
    actor text DEFAULT ''::text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT treasury_movement_amount_positive CHECK ((amount > 0)),
    CONSTRAINT treasury_movement_bought_amount_positive CHECK ((bought_amount > 0)),
    CONSTRAINT treasury_movement_bought_in_settlement CHECK ((((kind = 'SETTLEMENT'::text) = (bought_currency IS NOT NULL)) AND ((bought_currency IS NULL) = (bought_amount IS NULL)))),
    CONSTRAINT treasury_movement_kind_known CHECK ((kind = ANY (ARRAY['SWEEP'::text, 'TRANSFER'::text, 'SETTLEMENT'::text]))),
    CONSTRAINT treasury_movement_note_length CHECK ((length(note) <= 500)),
    CONSTRAINT treasury_movement_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ONLY treasury_movements
    ADD CONSTRAINT treasury_movement_posting_unique UNIQUE (platform_id, posting_id);
ALTER TABLE ONLY treasury_movements
    ADD CONSTRAINT treasury_movements_pkey PRIMARY KEY (platform_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON treasury_movements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON treasury_movements REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('treasury-movement', 'id');
ALTER TABLE ONLY treasury_movements
    ADD CONSTRAINT treasury_movement_posting_fkey FOREIGN KEY (platform_id, posting_id) REFERENCES ledger_posting_ids(platform_id, id) DEFERRABLE INITIALLY DEFERRED;
CREATE POLICY platform_isolation ON treasury_movements USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE treasury_movements ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE treasury_movements TO causeway_service;

CREATE TABLE uma_channels (
    platform_id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    channels jsonb NOT NULL,
    received_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY uma_channels
    ADD CONSTRAINT uma_channels_pkey PRIMARY KEY (platform_id, transaction_id);
ALTER TABLE ONLY uma_channels
    ADD CONSTRAINT uma_channels_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON uma_channels USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE uma_channels ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE uma_channels TO causeway_service;

CREATE TABLE uma_invoices (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    issuer text NOT NULL,
    invoice_id uuid NOT NULL,
    content text NOT NULL,
    receiver_id uuid,
    sender_id uuid,
    amount bigint NOT NULL,
    currency text NOT NULL,
    transaction_id uuid,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    asked_until timestamp with time zone,
    delivery text DEFAULT ''::text NOT NULL,
    delivery_reason text DEFAULT ''::text NOT NULL,
    CONSTRAINT uma_invoice_positive CHECK ((amount > 0))
);
ALTER TABLE uma_invoices
    ADD CONSTRAINT uma_invoice_delivery CHECK ((delivery = ANY (ARRAY[''::text, 'SENDING'::text, 'DELIVERED'::text, 'REFUSED'::text]))) NOT VALID;
ALTER TABLE ONLY uma_invoices
    ADD CONSTRAINT uma_invoice_once UNIQUE (platform_id, issuer, invoice_id);
ALTER TABLE ONLY uma_invoices
    ADD CONSTRAINT uma_invoices_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX uma_invoices_by_expires_at ON uma_invoices USING btree (platform_id, expires_at);
CREATE INDEX uma_invoices_by_receiver ON uma_invoices USING btree (platform_id, receiver_id) WHERE (receiver_id IS NOT NULL);
CREATE INDEX uma_invoices_by_sender ON uma_invoices USING btree (platform_id, sender_id, expires_at) WHERE (sender_id IS NOT NULL);
ALTER TABLE ONLY uma_invoices
    ADD CONSTRAINT uma_invoices_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON uma_invoices USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE uma_invoices ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE uma_invoices TO causeway_service;
GRANT UPDATE(content) ON TABLE uma_invoices TO causeway_service;
GRANT UPDATE(sender_id) ON TABLE uma_invoices TO causeway_service;
GRANT UPDATE(transaction_id) ON TABLE uma_invoices TO causeway_service;
GRANT UPDATE(asked_until) ON TABLE uma_invoices TO causeway_service;
GRANT UPDATE(delivery) ON TABLE uma_invoices TO causeway_service;
GRANT UPDATE(delivery_reason) ON TABLE uma_invoices TO causeway_service;

CREATE TABLE uma_keys (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    number integer NOT NULL,
    secrets jsonb NOT NULL,
    active_from timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT uma_key_number_positive CHECK ((number > 0))
);
ALTER TABLE ONLY uma_keys
    ADD CONSTRAINT uma_key_number_unique UNIQUE (platform_id, number);
ALTER TABLE ONLY uma_keys
    ADD CONSTRAINT uma_keys_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE ONLY uma_keys
    ADD CONSTRAINT uma_keys_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON uma_keys USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE uma_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE uma_keys TO causeway_service;
GRANT UPDATE(secrets) ON TABLE uma_keys TO causeway_service;

CREATE TABLE uma_nonces (
    platform_id uuid NOT NULL,
    hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT uma_nonce_hash_length CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY uma_nonces
    ADD CONSTRAINT uma_nonces_pkey PRIMARY KEY (platform_id, hash);
CREATE INDEX uma_nonces_by_expires_at ON uma_nonces USING btree (platform_id, expires_at);
ALTER TABLE ONLY uma_nonces
    ADD CONSTRAINT uma_nonces_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON uma_nonces USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE uma_nonces ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE uma_nonces TO causeway_service;

CREATE TABLE uma_peers (
    platform_id uuid NOT NULL,
    domain text NOT NULL,
    signing_key bytea NOT NULL,
    encryption_key bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY uma_peers
    ADD CONSTRAINT uma_peers_pkey PRIMARY KEY (platform_id, domain);
CREATE INDEX uma_peers_by_expires_at ON uma_peers USING btree (platform_id, expires_at);
ALTER TABLE ONLY uma_peers
    ADD CONSTRAINT uma_peers_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON uma_peers USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE uma_peers ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE uma_peers TO causeway_service;

CREATE TABLE unmatched_assignments (
    platform_id uuid NOT NULL,
    posting_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    transaction_id uuid,
    account_id uuid,
    note text NOT NULL,
    token_id uuid,
    assigned_at timestamp with time zone NOT NULL,
    actor text DEFAULT ''::text NOT NULL,
    proposal_id uuid,
    approver_token_id uuid,
    approver text DEFAULT ''::text NOT NULL,
    person_id uuid,
    CONSTRAINT unmatched_assignment_account_needs_transaction CHECK (((account_id IS NULL) OR (transaction_id IS NOT NULL))),
    CONSTRAINT unmatched_assignment_has_author CHECK (((token_id IS NOT NULL) OR (actor <> ''::text))),
    CONSTRAINT unmatched_assignment_two_tokens CHECK ((approver_token_id <> token_id))
);
ALTER TABLE ONLY unmatched_assignments
    ADD CONSTRAINT unmatched_assignment_once PRIMARY KEY (platform_id, posting_id);
CREATE INDEX unmatched_assignments_by_time ON unmatched_assignments USING btree (platform_id, assigned_at);
CREATE INDEX unmatched_assignments_by_transaction ON unmatched_assignments USING btree (platform_id, transaction_id) WHERE (transaction_id IS NOT NULL);
CREATE TRIGGER ledger_evidence AFTER INSERT ON unmatched_assignments REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('assignment', 'posting_id');
CREATE TRIGGER remove_waiting AFTER INSERT ON unmatched_assignments FOR EACH ROW EXECUTE FUNCTION remove_unmatched_waiting();
CREATE POLICY platform_isolation ON unmatched_assignments USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE unmatched_assignments ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE unmatched_assignments TO causeway_service;

CREATE TABLE unmatched_funds (
    platform_id uuid NOT NULL,
    posting_id uuid NOT NULL,
    receipt_id uuid NOT NULL
);
ALTER TABLE ONLY unmatched_funds
    ADD CONSTRAINT unmatched_funds_pkey PRIMARY KEY (platform_id, posting_id);
CREATE INDEX unmatched_funds_by_receipt ON unmatched_funds USING btree (platform_id, receipt_id) WHERE (receipt_id IS NOT NULL);
ALTER TABLE ONLY unmatched_funds
    ADD CONSTRAINT unmatched_funds_receipt_fkey FOREIGN KEY (platform_id, receipt_id) REFERENCES receipts(platform_id, id);
CREATE POLICY platform_isolation ON unmatched_funds USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE unmatched_funds ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE unmatched_funds TO causeway_service;

CREATE TABLE unmatched_waiting (
    platform_id uuid NOT NULL,
    seq bigint NOT NULL,
    posting_id uuid NOT NULL,
    recorded_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY unmatched_waiting
    ADD CONSTRAINT unmatched_waiting_pkey PRIMARY KEY (platform_id, seq);
CREATE POLICY platform_isolation ON unmatched_waiting USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE unmatched_waiting ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE unmatched_waiting TO causeway_service;

CREATE TABLE vasp_directories (
    imported_at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    person_id uuid,
    providers jsonb NOT NULL
);
ALTER TABLE ONLY vasp_directories
    ADD CONSTRAINT vasp_directories_pkey PRIMARY KEY (imported_at);
GRANT SELECT,INSERT ON TABLE vasp_directories TO causeway_service;

CREATE TABLE verification_reviews (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    verification_id uuid,
    owner_id uuid,
    application_id uuid NOT NULL,
    verdict text NOT NULL,
    actor text NOT NULL,
    details jsonb NOT NULL,
    reviewed_at timestamp with time zone NOT NULL,
    person_id uuid,
    CONSTRAINT verification_review_actor_length CHECK (((length(actor) >= 1) AND (length(actor) <= 200))),
    CONSTRAINT verification_review_subject CHECK (((verification_id IS NULL) <> (owner_id IS NULL))),
    CONSTRAINT verification_review_verdict_known CHECK ((verdict = ANY (ARRAY['ACCEPTED'::text, 'REFUSED'::text, 'CORRECTABLE'::text])))
);
ALTER TABLE ONLY verification_reviews
    ADD CONSTRAINT verification_reviews_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX verification_reviews_by_actor ON verification_reviews USING btree (platform_id, actor, id);
CREATE INDEX verification_reviews_by_customer ON verification_reviews USING btree (platform_id, customer_id, id);
CREATE INDEX verification_reviews_by_owner ON verification_reviews USING btree (platform_id, owner_id, id) WHERE (owner_id IS NOT NULL);
CREATE INDEX verification_reviews_by_verification ON verification_reviews USING btree (platform_id, verification_id, id) WHERE (verification_id IS NOT NULL);
ALTER TABLE ONLY verification_reviews
    ADD CONSTRAINT verification_review_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY verification_reviews
    ADD CONSTRAINT verification_reviews_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON verification_reviews USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE verification_reviews ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE verification_reviews TO causeway_service;
GRANT UPDATE(details) ON TABLE verification_reviews TO causeway_service;

CREATE TABLE verifications (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    status text NOT NULL,
    application_id uuid,
    customer_approved boolean NOT NULL,
    details jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT verification_status_known CHECK ((status = ANY (ARRAY['RESOLVE_ERRORS'::text, 'READY_FOR_VERIFICATION'::text, 'IN_PROGRESS'::text, 'PENDING_MANUAL_REVIEW'::text, 'APPROVED'::text, 'REJECTED'::text]))),
    CONSTRAINT verification_submitted CHECK (((application_id IS NOT NULL) OR (status = ANY (ARRAY['RESOLVE_ERRORS'::text, 'READY_FOR_VERIFICATION'::text]))))
);
ALTER TABLE ONLY verifications
    ADD CONSTRAINT verifications_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX verification_one_open_per_customer ON verifications USING btree (platform_id, customer_id) WHERE (status <> ALL (ARRAY['APPROVED'::text, 'REJECTED'::text]));
CREATE INDEX verifications_by_customer ON verifications USING btree (platform_id, customer_id, id);
CREATE INDEX verifications_by_status ON verifications USING btree (platform_id, status, id);
ALTER TABLE ONLY verifications
    ADD CONSTRAINT verification_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers(platform_id, id);
ALTER TABLE ONLY verifications
    ADD CONSTRAINT verifications_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON verifications USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE verifications ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE verifications TO causeway_service;

CREATE TABLE wallet_authorizations (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    payload text NOT NULL,
    signature text NOT NULL,
    session_id uuid,
    session_key bytea,
    certificate_statement text,
    certificate_key bytea,
    certificate_signature bytea,
    signed_at timestamp with time zone NOT NULL,
    CONSTRAINT wallet_authorization_certificate_key_compressed CHECK ((length(certificate_key) = 33)),
    CONSTRAINT wallet_authorization_has_whole_session CHECK ((num_nulls(session_id, session_key, certificate_statement, certificate_key, certificate_signature) = ANY (ARRAY[0, 5]))),
    CONSTRAINT wallet_authorization_session_key_compressed CHECK ((length(session_key) = 33))
);
ALTER TABLE ONLY wallet_authorizations
    ADD CONSTRAINT wallet_authorizations_pkey PRIMARY KEY (platform_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OF platform_id, id, account_id, signature, session_id, session_key, certificate_statement, certificate_key, certificate_signature, signed_at OR TRUNCATE ON wallet_authorizations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER payload_stays_encrypted BEFORE UPDATE OF payload ON wallet_authorizations FOR EACH ROW WHEN (((new.payload <> old.payload) AND ("left"(new.payload, 1) <> ''::text))) EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON wallet_authorizations USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_authorizations ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE wallet_authorizations TO causeway_service;
GRANT UPDATE(payload) ON TABLE wallet_authorizations TO causeway_service;

CREATE TABLE wallet_codes (
    platform_id uuid NOT NULL,
    credential_id uuid NOT NULL,
    hash bytea NOT NULL,
    tries smallint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    burst_until timestamp with time zone NOT NULL,
    hour_until timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    blocked_until timestamp with time zone,
    CONSTRAINT wallet_code_failures_not_negative CHECK ((failures >= 0)),
    CONSTRAINT wallet_code_hash_length CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY wallet_codes
    ADD CONSTRAINT wallet_codes_pkey PRIMARY KEY (platform_id, credential_id);
CREATE INDEX wallet_codes_by_expires_at ON wallet_codes USING btree (platform_id, expires_at);
ALTER TABLE ONLY wallet_codes
    ADD CONSTRAINT wallet_codes_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON wallet_codes USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_codes ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wallet_codes TO causeway_service;

CREATE TABLE wallet_credentials (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    credential_type text NOT NULL,
    nickname text NOT NULL,
    email text NOT NULL,
    email_fingerprint text NOT NULL,
    identity jsonb NOT NULL,
    passkey_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    transports text[] NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up boolean NOT NULL,
    verified_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    user_verified boolean DEFAULT false NOT NULL
);
ALTER TABLE wallet_credentials
    ADD CONSTRAINT wallet_credential_type_known CHECK ((credential_type = ANY (ARRAY['EMAIL_OTP'::text, 'SMS_OTP'::text, 'PASSKEY'::text, 'OAUTH'::text]))) NOT VALID;
ALTER TABLE ONLY wallet_credentials
    ADD CONSTRAINT wallet_credentials_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX wallet_credential_email_otp_unique ON wallet_credentials USING btree (platform_id, account_id) WHERE ((credential_type = 'EMAIL_OTP'::text) AND (revoked_at IS NULL));
CREATE UNIQUE INDEX wallet_credential_passkey_unique ON wallet_credentials USING btree (platform_id, account_id) WHERE ((credential_type = 'PASSKEY'::text) AND (revoked_at IS NULL));
CREATE INDEX wallet_credentials_by_account ON wallet_credentials USING btree (platform_id, account_id);
CREATE INDEX wallet_credentials_by_email ON wallet_credentials USING btree (platform_id, email_fingerprint) WHERE ((email_fingerprint <> ''::text) AND (revoked_at IS NULL));
CREATE INDEX wallet_credentials_by_revoked_at ON wallet_credentials USING btree (platform_id, revoked_at) WHERE (revoked_at IS NOT NULL);
ALTER TABLE ONLY wallet_credentials
    ADD CONSTRAINT wallet_credential_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES internal_accounts(platform_id, id);
ALTER TABLE ONLY wallet_credentials
    ADD CONSTRAINT wallet_credentials_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON wallet_credentials USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_credentials ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wallet_credentials TO causeway_service;

CREATE TABLE wallet_exports (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    session_id uuid,
    credential_id uuid,
    request_id uuid NOT NULL,
    token_id uuid NOT NULL,
    exported_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY wallet_exports
    ADD CONSTRAINT wallet_exports_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX wallet_exports_by_account ON wallet_exports USING btree (platform_id, account_id, exported_at);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet_exports FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY wallet_exports
    ADD CONSTRAINT wallet_export_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES internal_accounts(platform_id, id);
ALTER TABLE ONLY wallet_exports
    ADD CONSTRAINT wallet_exports_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON wallet_exports USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_exports ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE wallet_exports TO causeway_service;

CREATE TABLE wallet_keys (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    entropy bytea NOT NULL,
    public_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT wallet_key_entropy_encrypted CHECK (((length(entropy) > 32) AND (get_byte(entropy, 0) < 32))),
    CONSTRAINT wallet_key_public_key_compressed CHECK (((length(public_key) = 33) AND (get_byte(public_key, 0) = ANY (ARRAY[2, 3]))))
);
ALTER TABLE ONLY wallet_keys
    ADD CONSTRAINT wallet_keys_pkey PRIMARY KEY (platform_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OF platform_id, id, public_key, created_at OR TRUNCATE ON wallet_keys FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
ALTER TABLE ONLY wallet_keys
    ADD CONSTRAINT wallet_key_account_fkey FOREIGN KEY (platform_id, id) REFERENCES internal_accounts(platform_id, id);
CREATE POLICY platform_isolation ON wallet_keys USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE wallet_keys TO causeway_service;
GRANT UPDATE(entropy) ON TABLE wallet_keys TO causeway_service;

CREATE TABLE wallet_passkey_challenges (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    credential_id uuid NOT NULL,
    challenge bytea NOT NULL,
    client_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT wallet_passkey_challenge_client_key_uncompressed CHECK ((length(client_key) = 65))
);
ALTER TABLE ONLY wallet_passkey_challenges
    ADD CONSTRAINT wallet_passkey_challenges_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE ONLY wallet_passkey_challenges
    ADD CONSTRAINT wallet_passkey_challenges_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON wallet_passkey_challenges USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_passkey_challenges ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wallet_passkey_challenges TO causeway_service;

CREATE TABLE wallet_sessions (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    credential_id uuid NOT NULL,
    credential_type text NOT NULL,
    public_key bytea NOT NULL,
    statement text NOT NULL,
    wallet_key bytea NOT NULL,
    signature bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT wallet_session_public_key_compressed CHECK ((length(public_key) = 33)),
    CONSTRAINT wallet_session_wallet_key_compressed CHECK ((length(wallet_key) = 33))
);
ALTER TABLE ONLY wallet_sessions
    ADD CONSTRAINT wallet_sessions_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX wallet_sessions_by_account ON wallet_sessions USING btree (platform_id, account_id, expires_at);
ALTER TABLE ONLY wallet_sessions
    ADD CONSTRAINT wallet_sessions_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON wallet_sessions USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_sessions ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wallet_sessions TO causeway_service;

CREATE TABLE wallet_signed_requests (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    operation text NOT NULL,
    credential_type text NOT NULL,
    fingerprint bytea NOT NULL,
    basis bytea NOT NULL,
    payload text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT wallet_signed_request_basis_length CHECK ((length(basis) = 32)),
    CONSTRAINT wallet_signed_request_fingerprint_length CHECK ((length(fingerprint) = 32))
);
ALTER TABLE ONLY wallet_signed_requests
    ADD CONSTRAINT wallet_signed_requests_pkey PRIMARY KEY (platform_id, id);
ALTER TABLE ONLY wallet_signed_requests
    ADD CONSTRAINT wallet_signed_requests_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON wallet_signed_requests USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_signed_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE wallet_signed_requests TO causeway_service;

CREATE TABLE wallet_transfer_nonces (
    platform_id uuid NOT NULL,
    account_id uuid NOT NULL,
    payload_sha256 bytea NOT NULL,
    nonce bigint NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY wallet_transfer_nonces
    ADD CONSTRAINT wallet_transfer_nonces_pkey PRIMARY KEY (platform_id, account_id, payload_sha256);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON wallet_transfer_nonces FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE POLICY platform_isolation ON wallet_transfer_nonces USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_transfer_nonces ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE wallet_transfer_nonces TO causeway_service;

CREATE TABLE wallet_used_challenges (
    platform_id uuid NOT NULL,
    hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT wallet_used_challenge_hash_length CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY wallet_used_challenges
    ADD CONSTRAINT wallet_used_challenges_pkey PRIMARY KEY (platform_id, hash);
CREATE INDEX wallet_used_challenges_by_expires_at ON wallet_used_challenges USING btree (platform_id, expires_at);
ALTER TABLE ONLY wallet_used_challenges
    ADD CONSTRAINT wallet_used_challenges_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON wallet_used_challenges USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE wallet_used_challenges ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE wallet_used_challenges TO causeway_service;

CREATE TABLE webhook_attempts (
    platform_id uuid NOT NULL,
    event_id uuid NOT NULL,
    attempted_at timestamp with time zone NOT NULL,
    attempt_no integer NOT NULL,
    duration_ms integer NOT NULL,
    status_code smallint NOT NULL,
    given_up boolean NOT NULL,
    outcome text NOT NULL,
    error text NOT NULL,
    response text NOT NULL,
    CONSTRAINT webhook_attempt_no_positive CHECK ((attempt_no > 0))
)
PARTITION BY RANGE (event_id);
ALTER TABLE ONLY webhook_attempts ATTACH PARTITION webhook_attempts_default DEFAULT;
ALTER TABLE ONLY webhook_attempts ATTACH PARTITION webhook_attempts_first FOR VALUES FROM (MINVALUE) TO (...);
ALTER TABLE ONLY webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (platform_id, event_id, attempt_no);
CREATE INDEX webhook_attempts_by_attempted_at ON ONLY webhook_attempts USING brin (attempted_at);
CREATE INDEX webhook_attempts_given_up ON ONLY webhook_attempts USING btree (platform_id, event_id) WHERE given_up;
CREATE POLICY platform_isolation ON webhook_attempts USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE webhook_attempts ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE webhook_attempts TO causeway_service;
GRANT UPDATE(response) ON TABLE webhook_attempts TO causeway_service;

ALTER TABLE webhook_attempts_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_attempts_first ENABLE ROW LEVEL SECURITY;

CREATE TABLE webhook_backlog (
    platform_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    seq bigint NOT NULL,
    event_id uuid NOT NULL,
    next_attempt_at timestamp with time zone,
    due_since timestamp with time zone NOT NULL,
    attempts integer NOT NULL,
    attempts_since_due integer NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0', vacuum_truncate='false');
ALTER TABLE ONLY webhook_backlog
    ADD CONSTRAINT webhook_backlog_pkey PRIMARY KEY (platform_id, seq);
CREATE INDEX webhook_backlog_by_subject ON webhook_backlog USING btree (platform_id, subject_id, seq) WHERE (subject_id IS NOT NULL);
CREATE INDEX webhook_backlog_due ON webhook_backlog USING btree (platform_id, next_attempt_at, seq) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX webhook_backlog_subject ON webhook_backlog USING btree (subject_id);
CREATE POLICY platform_isolation ON webhook_backlog USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE webhook_backlog ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE webhook_backlog TO causeway_service;

CREATE TABLE webhook_events (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    subject_id uuid NOT NULL,
    seq bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    type text NOT NULL,
    name text NOT NULL,
    body bytea NOT NULL,
    traceparent text
)
PARTITION BY RANGE (id);
ALTER TABLE ONLY webhook_events ALTER COLUMN body SET COMPRESSION lz4;
CREATE SEQUENCE webhook_event_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE webhook_event_seq OWNED BY webhook_events.seq;
ALTER TABLE ONLY webhook_events ATTACH PARTITION webhook_events_default DEFAULT;
ALTER TABLE ONLY webhook_events ATTACH PARTITION webhook_events_first FOR VALUES FROM (MINVALUE) TO (...);
ALTER TABLE ONLY webhook_events ALTER COLUMN seq SET DEFAULT nextval('webhook_event_seq'::regclass);
ALTER TABLE ONLY webhook_events
    ADD CONSTRAINT webhook_events_pkey PRIMARY KEY (platform_id, id);
CREATE INDEX webhook_events_by_subject ON ONLY webhook_events USING btree (platform_id, subject_id) WHERE (subject_id <> id);
CREATE POLICY platform_isolation ON webhook_events USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT ON TABLE webhook_events TO causeway_service;
GRANT UPDATE(body) ON TABLE webhook_events TO causeway_service;
GRANT USAGE ON SEQUENCE webhook_event_seq TO causeway_service;

ALTER TABLE webhook_events_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_events_first ENABLE ROW LEVEL SECURITY;

CREATE TABLE webhook_keys (
    id uuid NOT NULL,
    environment text NOT NULL,
    algorithm text NOT NULL,
    public_key bytea NOT NULL,
    encrypted_key bytea NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone,
    CONSTRAINT webhook_key_algorithm_known CHECK ((algorithm = ANY (ARRAY['ECDSA_P256_SHA256'::text, 'ED25519'::text]))),
    CONSTRAINT webhook_key_environment_known CHECK ((environment = ANY (ARRAY['SANDBOX'::text, 'PRODUCTION'::text]))),
    CONSTRAINT webhook_key_validity_ordered CHECK ((valid_until >= valid_from))
);
ALTER TABLE ONLY webhook_keys
    ADD CONSTRAINT webhook_keys_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX webhook_key_one_active ON webhook_keys USING btree (environment, algorithm) WHERE (valid_until IS NULL);
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE webhook_keys TO causeway_service;

CREATE TABLE webhook_queue (
    platform_id uuid NOT NULL,
    seq bigint NOT NULL,
    subject_id uuid NOT NULL,
    event_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0', vacuum_truncate='false', autovacuum_vacuum_insert_threshold='-1', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='50000');
ALTER TABLE ONLY webhook_queue
    ADD CONSTRAINT webhook_queue_pkey PRIMARY KEY (platform_id, seq);
CREATE INDEX webhook_queue_subject ON webhook_queue USING btree (subject_id, seq) WHERE (subject_id IS NOT NULL);
CREATE POLICY platform_isolation ON webhook_queue USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE webhook_queue ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE webhook_queue TO causeway_service;

CREATE TABLE webhook_secrets (
    platform_id uuid NOT NULL,
    id uuid NOT NULL,
    encrypted_secret bytea NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone,
    CONSTRAINT webhook_secret_validity_ordered CHECK ((valid_until >= valid_from))
);
ALTER TABLE ONLY webhook_secrets
    ADD CONSTRAINT webhook_secrets_pkey PRIMARY KEY (platform_id, id);
CREATE UNIQUE INDEX webhook_secret_one_current ON webhook_secrets USING btree (platform_id) WHERE (valid_until IS NULL);
ALTER TABLE ONLY webhook_secrets
    ADD CONSTRAINT webhook_secrets_platform_id_fkey FOREIGN KEY (platform_id) REFERENCES platforms(id);
CREATE POLICY platform_isolation ON webhook_secrets USING (((platform_id = ( SELECT visible_platform() AS visible_platform)) OR ( SELECT all_platforms_visible() AS all_platforms_visible)));
ALTER TABLE webhook_secrets ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE ON TABLE webhook_secrets TO causeway_service;
GRANT UPDATE(encrypted_secret) ON TABLE webhook_secrets TO causeway_service;

CREATE FUNCTION add_transaction_statuses() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO transaction_statuses SELECT n.platform_id, n.status, n.direction, n.id FROM new_transactions n;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION add_transaction_statuses() FROM PUBLIC;

CREATE FUNCTION add_unmatched_waiting() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO unmatched_waiting (platform_id, seq, posting_id, recorded_at) VALUES (NEW.platform_id, NEW.seq, NEW.id, NEW.recorded_at);
    RETURN NULL;
END $$;

CREATE FUNCTION all_platforms_visible() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN COALESCE((current_setting('causeway.platform'::text, true) = '*'::text), false);

CREATE FUNCTION change_transaction_status() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    UPDATE transaction_statuses s SET status = NEW.status
    WHERE s.platform_id = OLD.platform_id AND s.status = OLD.status AND s.direction = OLD.direction AND s.id = OLD.id;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION change_transaction_status() FROM PUBLIC;

CREATE FUNCTION corridor_check_proposal_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'corridor_proposal_decided_once', TABLE = 'corridor_proposals';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION corridor_check_proposed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    changed corridor_overrides;
    of      uuid := nullif(current_setting('causeway.proposal', true), '');
    wanted  jsonb; -- the values that the corridor has of its own afterwards; those that are left out are built in
BEGIN
    IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
    IF is_owner_of(TG_RELID) THEN RETURN changed; END IF;
    SELECT p.request::jsonb #> '{after,override}' INTO wanted FROM corridor_proposals p
    WHERE p.id = of AND p.status = 'PENDING' AND p.expires_at > now()
        AND p.platform_id IS NOT DISTINCT FROM changed.platform_id
        AND (p.request::jsonb ->> 'from', p.request::jsonb ->> 'to') = (changed.source, changed.destination);
    IF wanted IS NULL OR (TG_OP = 'DELETE') <> (wanted = '{}') THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, of);
    ELSIF TG_OP <> 'DELETE' AND (NEW.fee_fixed, NEW.fee_fraction::numeric, NEW.min_sending, NEW.max_sending, NEW.lock_seconds) IS DISTINCT FROM (
        (wanted ->> 'fee-fixed')::bigint, rtrim(wanted ->> 'fee-percent', '%')::numeric / 100, (wanted ->> 'min')::bigint,
        (wanted ->> 'max')::bigint,
        rtrim(wanted ->> 'lock', 'ms')::integer * CASE WHEN wanted ->> 'lock' LIKE '%m' THEN 60 ELSE 1 END) THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, of);
    END IF;
    RETURN changed;
END
$$;

CREATE FUNCTION corridor_record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    change_note text := coalesce(current_setting('causeway.change_note', true), '');
    removed boolean := TG_OP <> 'INSERT';
    added   boolean := TG_OP <> 'DELETE';
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.platform_id, OLD.source, OLD.destination) IS NOT DISTINCT FROM (NEW.platform_id, NEW.source, NEW.destination) THEN
        IF OLD IS DISTINCT FROM NEW THEN
            INSERT INTO corridor_changes (note, platform_id, source, destination,
                old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds,
                new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
            VALUES (change_note, NEW.platform_id, NEW.source, NEW.destination,
                OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds,
                NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
        END IF;
        RETURN NULL;
    END IF;
    IF removed THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds)
        VALUES (change_note, OLD.platform_id, OLD.source, OLD.destination,
            OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds);
    END IF;
    IF added THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
        VALUES (change_note, NEW.platform_id, NEW.source, NEW.destination,
            NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION create_lookup_partitions() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['lookups'], 1);
END
$$;
REVOKE ALL ON FUNCTION create_lookup_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION create_lookup_partitions() TO causeway_service;

CREATE FUNCTION create_request_log_partitions() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['request_log'], 1);
END
$$;
REVOKE ALL ON FUNCTION create_request_log_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION create_request_log_partitions() TO causeway_service;

REVOKE ALL ON FUNCTION create_time_partitions(parents text[], days integer) FROM PUBLIC;

CREATE FUNCTION create_time_partitions(parents text[], days integer) RETURNS void
    LANGUAGE plpgsql
    AS $_$
DECLARE
    beginning CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    bounded   uuid;
    starts_at timestamptz;
    first_id  uuid;
    parent    text;
    partition text;
    key       text;
    last_id   uuid;
BEGIN
    LOOP
        SELECT coalesce(max(p.ends_before::text)::uuid, beginning) INTO bounded FROM time_partitions(parents[1]::regclass) p;
        starts_at := uuid_v7_time(bounded);
        EXIT WHEN starts_at > clock_timestamp() + make_interval(days => days + 1);
        -- Rows can be written and read meanwhile, unless the partition is of rows that are written now:
        -- they were in the default partition.
        FOREACH parent IN ARRAY parents LOOP
            EXECUTE format('LOCK TABLE ONLY %I IN %s MODE', parent, CASE WHEN starts_at <= clock_timestamp() THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE UPDATE EXCLUSIVE' END);
        END LOOP;
        CONTINUE WHEN (SELECT coalesce(max(p.ends_before::text)::uuid, beginning) FROM time_partitions(parents[1]::regclass) p) <> bounded;
        first_id := bounded;
        last_id := first_uuid_v7(greatest(starts_at + make_interval(hours => 24 * days), date_trunc('day', clock_timestamp(), 'UTC')));
        FOREACH parent IN ARRAY parents LOOP
            partition := parent || '_' || to_char(starts_at AT TIME ZONE 'UTC', 'YYYYMMDD');
            key := (SELECT a.attname FROM pg_partitioned_table t JOIN pg_attribute a ON a.attrelid = t.partrelid AND a.attnum = t.partattrs[0] WHERE t.partrelid = parent::regclass);
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION)', partition, parent);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition);
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
            EXECUTE format('WITH moved AS (DELETE FROM %1$I WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *) INSERT INTO %5$I SELECT * FROM moved',
                parent || '_default', key, first_id, last_id, partition);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, first_id, last_id);
        END LOOP;
    END LOOP;
END
$_$;

REVOKE ALL ON FUNCTION create_webhook_partitions(days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION create_webhook_partitions(days integer) TO causeway_service;

CREATE FUNCTION create_webhook_partitions(days integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['webhook_attempts', 'webhook_events'], least(greatest(days, 1), 366));
END
$$;

REVOKE ALL ON FUNCTION delete_agent_attempts(platform uuid, before timestamp with time zone, after uuid, max_rows integer, OUT checked integer, OUT deleted integer, OUT last uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION delete_agent_attempts(platform uuid, before timestamp with time zone, after uuid, max_rows integer, OUT checked integer, OUT deleted integer, OUT last uuid) TO causeway_service;

CREATE FUNCTION delete_agent_attempts(platform uuid, before timestamp with time zone, after uuid, max_rows integer, OUT checked integer, OUT deleted integer, OUT last uuid) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0; last := after;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_agent_attempts' || platform, 0)) THEN
        RETURN;
    END IF;
    WITH old AS MATERIALIZED (
        SELECT a.id, a.attempted_at FROM agent_attempts a
        WHERE a.platform_id = platform AND a.id > after AND a.id < first_uuid_v7(before) ORDER BY a.id LIMIT max_rows
    ), deleted_attempts AS (
        DELETE FROM agent_attempts a USING old WHERE a.platform_id = platform AND a.id = old.id AND old.attempted_at < before RETURNING 1
    )
    SELECT count(*), (SELECT count(*) FROM deleted_attempts), coalesce((SELECT o.id FROM old o ORDER BY o.id DESC LIMIT 1), after)
    INTO checked, deleted, last FROM old;
END
$$;

REVOKE ALL ON FUNCTION delete_rail_replies(platform uuid, before timestamp with time zone, after timestamp with time zone, max_rows integer, OUT checked integer, OUT deleted integer, OUT last timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION delete_rail_replies(platform uuid, before timestamp with time zone, after timestamp with time zone, max_rows integer, OUT checked integer, OUT deleted integer, OUT last timestamp with time zone) TO causeway_service;

CREATE FUNCTION delete_rail_replies(platform uuid, before timestamp with time zone, after timestamp with time zone, max_rows integer, OUT checked integer, OUT deleted integer, OUT last timestamp with time zone) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0; last := after;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_rail_replies' || platform, 0)) THEN
        RETURN;
    END IF;
    -- WITH TIES: the next batch begins after the time of the last row.
    WITH old AS MATERIALIZED (
        SELECT r.ctid AS row_id, r.subject_id, r.replied_at FROM rail_replies r
        WHERE r.platform_id = platform AND r.replied_at > after AND r.replied_at < before
        ORDER BY r.replied_at FETCH FIRST (max_rows) ROWS WITH TIES
    ), deleted_replies AS (
        DELETE FROM rail_replies r USING old WHERE r.ctid = old.row_id AND NOT EXISTS (
            SELECT FROM transactions t WHERE t.platform_id = platform AND t.id = old.subject_id
               AND (t.status IN ('PENDING', 'PROCESSING') OR t.refund_status = 'PENDING'))
        RETURNING 1
    )
    SELECT count(*), (SELECT count(*) FROM deleted_replies), coalesce(max(old.replied_at), after) INTO checked, deleted, last FROM old;
END
$$;

CREATE FUNCTION delete_transaction_status() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    DELETE FROM transaction_statuses s
    WHERE s.platform_id = OLD.platform_id AND s.status = OLD.status AND s.direction = OLD.direction AND s.id = OLD.id;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION delete_transaction_status() FROM PUBLIC;

REVOKE ALL ON FUNCTION delete_unpaid_quotes(platform uuid, before timestamp with time zone, max_rows integer, OUT checked integer, OUT deleted integer) FROM PUBLIC;
GRANT ALL ON FUNCTION delete_unpaid_quotes(platform uuid, before timestamp with time zone, max_rows integer, OUT checked integer, OUT deleted integer) TO causeway_service;

CREATE FUNCTION delete_unpaid_quotes(platform uuid, before timestamp with time zone, max_rows integer, OUT checked integer, OUT deleted integer) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    last uuid;
    old  uuid[]; -- the quotes to check
    next uuid[];
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_unpaid_quotes' || platform, 0)) THEN
        RETURN;
    END IF;
    WITH due AS (
        DELETE FROM quote_retention_open o WHERE o.platform_id = platform AND o.quote_id = ANY (ARRAY(
            SELECT d.quote_id FROM quote_retention_open d WHERE d.platform_id = platform AND d.check_at <= clock_timestamp() ORDER BY d.check_at LIMIT max_rows))
        RETURNING o.quote_id)
    SELECT coalesce(array_agg(quote_id), '{}') INTO old FROM due;
    SELECT p.checked_to INTO last FROM quote_retention_progress p WHERE p.platform_id = platform;
    next := ARRAY(SELECT q.id FROM quotes q
        WHERE q.platform_id = platform AND q.id > coalesce(last, '00000000-0000-0000-0000-000000000000') AND q.id < first_uuid_v7(before)
        ORDER BY q.id LIMIT max_rows - cardinality(old));
    IF cardinality(next) > 0 THEN
        INSERT INTO quote_retention_progress VALUES (platform, next[cardinality(next)])
        ON CONFLICT (platform_id) DO UPDATE SET checked_to = excluded.checked_to;
    END IF;
    old := old || next;
    checked := cardinality(old);
    WITH maybe AS MATERIALIZED (
        SELECT t.id, q.id AS quote_id FROM unnest(old) AS o(id)
        JOIN quotes q ON q.platform_id = platform AND q.id = o.id
        JOIN transactions t ON t.platform_id = platform AND t.id = q.transaction_id
        WHERE t.status IN ('PENDING', 'PENDING_AUTHORIZATION')
           OR (t.status = 'EXPIRED' OR t.status = 'FAILED' AND t.failure_reason = 'SCA_NOT_COMPLETED') AND t.refund_status = '' AND t.stage = '' AND t.receipt_id IS NULL AND t.funded_minor = 0
          AND NOT EXISTS (SELECT FROM ledger_postings p
              WHERE p.platform_id = platform AND p.transaction_id = t.id AND p.recorded_at >= t.created_at - interval '1 day') -- clocks differ
          AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = platform AND a.transaction_id = t.id)
    ), unpaid AS MATERIALIZED (
        SELECT t.id, m.quote_id FROM maybe m JOIN transactions t ON t.platform_id = platform AND t.id = m.id
        WHERE (t.status = 'EXPIRED' OR t.status = 'FAILED' AND t.failure_reason = 'SCA_NOT_COMPLETED') AND t.refund_status = '' AND t.receipt_id IS NULL AND t.funded_minor = 0
          AND NOT EXISTS (SELECT FROM jobs j WHERE j.platform_id = platform AND j.id < first_uuid_v7(before) AND t.id = ANY (j.subjects))
        FOR UPDATE OF t SKIP LOCKED -- a payment is being recorded
    ), deleted_quotes AS (
        DELETE FROM quotes q USING unpaid u WHERE q.platform_id = platform AND q.id = u.quote_id RETURNING 1
    ), deleted_transactions AS (
        DELETE FROM transactions t USING unpaid u WHERE t.platform_id = platform AND t.id = u.id
    ), still_open AS (
        INSERT INTO quote_retention_open
        SELECT platform, m.quote_id, clock_timestamp() + interval '1 day' FROM maybe m
        WHERE NOT EXISTS (SELECT FROM unpaid u WHERE u.id = m.id)
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) INTO deleted FROM deleted_quotes;
END
$$;

REVOKE ALL ON FUNCTION drop_lookup_partition(before timestamp with time zone, OUT dropped text, OUT lookups bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION drop_lookup_partition(before timestamp with time zone, OUT dropped text, OUT lookups bigint) TO causeway_service;

CREATE FUNCTION drop_lookup_partition(before timestamp with time zone, OUT dropped text, OUT lookups bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $$
DECLARE
    old record;
BEGIN
    before := least(before, clock_timestamp() - interval '1 hour'); -- they are valid for ten minutes
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_lookup_partition', 0)) THEN
        RETURN;
    END IF;
    SELECT p.partition, p.ends_before INTO old FROM time_partitions('lookups') p ORDER BY p.ends_before LIMIT 1;
    IF old.ends_before <= first_uuid_v7(before - interval '10 minutes') THEN
        SELECT greatest(c.reltuples, 0)::bigint INTO lookups FROM pg_class c WHERE c.oid = old.partition;
        dropped := old.partition::text;
        EXECUTE format('DROP TABLE %s', old.partition);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION drop_request_log_partition(before timestamp with time zone, OUT dropped text, OUT entries bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION drop_request_log_partition(before timestamp with time zone, OUT dropped text, OUT entries bigint) TO causeway_service;

CREATE FUNCTION drop_request_log_partition(before timestamp with time zone, OUT dropped text, OUT entries bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $$
DECLARE
    old record;
BEGIN
    before := least(before, clock_timestamp());
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_request_log_partition', 0)) THEN
        RETURN;
    END IF;
    SELECT p.partition, p.ends_before INTO old FROM time_partitions('request_log') p ORDER BY p.ends_before LIMIT 1;
    IF old.ends_before <= first_uuid_v7(before) THEN
        SELECT greatest(c.reltuples, 0)::bigint INTO entries FROM pg_class c WHERE c.oid = old.partition;
        dropped := old.partition::text;
        EXECUTE format('DROP TABLE %s', old.partition);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION drop_webhook_partition(before timestamp with time zone, OUT dropped text, OUT events bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION drop_webhook_partition(before timestamp with time zone, OUT dropped text, OUT events bigint) TO causeway_service;

CREATE FUNCTION drop_webhook_partition(before timestamp with time zone, OUT dropped text, OUT events bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $_$
DECLARE
    lowest   uuid := '00000000-0000-0000-0000-000000000000';
    old      record;
    attempts regclass;
    needed   boolean;
BEGIN
    before := least(before, clock_timestamp() - interval '8 days');
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_webhook_partition', 0)) THEN
        RETURN;
    END IF;
    FOR old IN SELECT p.partition, p.ends_before FROM time_partitions('webhook_events') p LOOP
        -- Some minutes, because an id may begin with a slightly later time than that of its event.
        EXIT WHEN old.ends_before > first_uuid_v7(before - interval '10 minutes');
        SELECT p.partition INTO STRICT attempts FROM time_partitions('webhook_attempts') p WHERE p.ends_before = old.ends_before;
        -- An event that is not in the queue when it is this old never enters it. If its redelivery
        -- begins now, it is as if it began a moment later.
        needed := EXISTS (SELECT FROM webhook_queue q WHERE q.event_id >= lowest AND q.event_id < old.ends_before)
            OR EXISTS (SELECT FROM webhook_backlog b WHERE b.event_id >= lowest AND b.event_id < old.ends_before);
        IF NOT needed THEN
            -- Includes the rows since the last vacuum, which otherwise would be read one by one.
            PERFORM brin_summarize_new_values(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
            WHERE i.indrelid = attempts AND m.amname = 'brin';
            EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE attempted_at >= $1)', attempts) INTO needed USING before;
        END IF;
        IF NOT needed THEN
            LOCK TABLE ONLY webhook_attempts, ONLY webhook_events IN ACCESS EXCLUSIVE MODE; -- the order of the service
            SELECT greatest(c.reltuples, 0)::bigint INTO events FROM pg_class c WHERE c.oid = old.partition;
            dropped := old.partition::text;
            EXECUTE format('DROP TABLE %s, %s', attempts, old.partition);
            RETURN;
        END IF;
        lowest := old.ends_before;
    END LOOP;
END
$_$;

CREATE FUNCTION first_uuid_v7(at_time timestamp with time zone) RETURNS uuid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN ((lpad(to_hex((floor((EXTRACT(epoch FROM at_time) * (1000)::numeric)))::bigint), 12, '0'::text) || repeat('0'::text, 20)))::uuid;

CREATE FUNCTION forget_dropped_webhooks() RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM webhook_backlog b
    WHERE b.event_id < first_uuid_v7(clock_timestamp() - interval '8 days') -- none is dropped that is younger
      AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.platform_id = b.platform_id AND e.id = b.event_id);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
REVOKE ALL ON FUNCTION forget_dropped_webhooks() FROM PUBLIC;
GRANT ALL ON FUNCTION forget_dropped_webhooks() TO causeway_service;

CREATE FUNCTION invitation_by_code(wanted text, caller uuid) RETURNS SETOF invitations
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT i.* FROM invitations i JOIN platforms inviter ON inviter.id = i.platform_id JOIN platforms reader ON reader.id = caller
    WHERE i.code = wanted AND inviter.environment = reader.environment AND inviter.closed_at IS NULL
      AND (caller = visible_platform() OR all_platforms_visible())
$$;

REVOKE ALL ON FUNCTION invitation_by_code(wanted text, caller uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION invitation_by_code(wanted text, caller uuid) TO causeway_service;

CREATE FUNCTION is_owner_of(relation oid) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT pg_has_role(current_user, relowner, 'MEMBER') FROM pg_class WHERE oid = relation
$$;

CREATE FUNCTION isolate_platforms(tenant_table regclass, condition text DEFAULT 'platform_id = (SELECT visible_platform())'::text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT (SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = tenant_table) THEN
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = tenant_table)
       AND NOT (SELECT c.relispartition FROM pg_class c WHERE c.oid = tenant_table) THEN
        EXECUTE format('CREATE POLICY platform_isolation ON %s USING (%s OR (SELECT all_platforms_visible()))', tenant_table, condition);
    END IF;
END
$$;

REVOKE ALL ON FUNCTION isolate_platforms(tenant_table regclass, condition text) FROM PUBLIC;

CREATE FUNCTION jobs_finish(platform_ids uuid[], ids uuid[], leases integer[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    finished int;
BEGIN
    DELETE FROM jobs USING unnest(platform_ids, ids, leases) AS held(platform_id, id, lease)
    WHERE jobs.platform_id = held.platform_id AND jobs.id = held.id AND jobs.attempts = held.lease;
    GET DIAGNOSTICS finished = ROW_COUNT;
    IF finished <> cardinality(ids) THEN
        RAISE EXCEPTION 'the lease of % of % jobs was lost', cardinality(ids) - finished, cardinality(ids)
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'job_lease_held', TABLE = 'jobs';
    END IF;
END $$;

CREATE FUNCTION keep_bank_order_file() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'bank order % is in file % of connection % and stays there', OLD.id, OLD.file_number, OLD.connection USING ERRCODE = 'check_violation';
END $$;

CREATE FUNCTION keep_customer_on_hold() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    NEW.status := 'PENDING';
    NEW.held_at := coalesce(NEW.held_at, OLD.held_at, NEW.on_hold_at);
    RETURN NEW;
END
$$;

CREATE FUNCTION ledger_chain_checkpoint() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Uses ledger_log_checkpoints_pkey.
    NEW.previous_size := greatest((SELECT c.size FROM ledger_log_checkpoints c WHERE c.platform_id = NEW.platform_id ORDER BY c.size DESC LIMIT 1), 0);
    RETURN NEW;
END
$$;

CREATE FUNCTION ledger_check_entry_currencies() RETURNS trigger
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
BEGIN
    IF EXISTS (
        SELECT FROM new_entries e
        LEFT JOIN ledger_accounts d ON d.platform_id = e.platform_id AND d.id = e.debit_account_id
        LEFT JOIN ledger_accounts c ON c.platform_id = e.platform_id AND c.id = e.credit_account_id
        WHERE d.currency IS DISTINCT FROM e.currency OR c.currency IS DISTINCT FROM e.currency
    ) THEN
        RAISE EXCEPTION 'the currency of an entry differs from that of its accounts'
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_entry_currency_matches_accounts', TABLE = 'ledger_entries';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION ledger_check_period_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.closed_before > NEW.soft_closed_before OR EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id AND c.month >= (NEW.closed_before AT TIME ZONE 'UTC')::date
    ) THEN
        RAISE EXCEPTION 'a closed month cannot be reopened'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_month_not_reopened', TABLE = 'ledger_clocks';
    END IF;
    IF OLD.closed_before > '-infinity' AND NEW.closed_before > OLD.closed_before AND NOT EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id
            AND c.month = ((NEW.closed_before AT TIME ZONE 'UTC') - interval '1 month')::date
    ) THEN
        RAISE EXCEPTION 'a month cannot be closed without its trial balance'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_month_has_closing', TABLE = 'ledger_clocks';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION ledger_check_proposal_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_proposal_decided_once', TABLE = 'ledger_proposals';
    END IF;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION ledger_create_month_partitions(at_time timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION ledger_create_month_partitions(at_time timestamp with time zone) TO causeway_service;

CREATE FUNCTION ledger_create_month_partitions(at_time timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    month_start timestamptz := date_trunc('month', at_time, 'UTC');
    suffix      text := to_char(month_start AT TIME ZONE 'UTC', 'YYYYMM');
    parent      text;
    partition   text;
BEGIN
    IF to_regclass('ledger_entries_' || suffix) IS NOT NULL THEN
        RETURN;
    END IF;
    LOCK TABLE ONLY ledger_postings IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('ledger_entries_' || suffix) IS NOT NULL THEN
        RETURN; -- another session created them while this one waited
    END IF;
    FOREACH parent IN ARRAY ARRAY['ledger_postings', 'ledger_entries'] LOOP
        partition := parent || '_' || suffix;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE, PRIMARY KEY (platform_id, seq%s))',
            partition, parent, CASE parent WHEN 'ledger_entries' THEN ', entry_no' END);
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION reject_change(%L)',
            partition, 'Post a reversal instead.');
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, month_start, ledger_month_end(month_start));
    END LOOP;
END
$$;

CREATE FUNCTION ledger_entries_spanning(platform uuid, at_time timestamp with time zone) RETURNS SETOF ledger_backdated_entries
    LANGUAGE sql STABLE
    AS $$
    SELECT b.*
    FROM generate_series(4, 33) AS c (gap_class)
    CROSS JOIN LATERAL (
        SELECT b.* FROM ledger_backdated_entries b
        WHERE b.platform_id = platform AND b.gap_class = c.gap_class AND least(b.effective_at, b.recorded_at) <= at_time
          AND least(b.effective_at, b.recorded_at) >= CASE c.gap_class WHEN 33 THEN '-infinity' ELSE at_time - make_interval(secs => 2 ^ c.gap_class) END
          AND (b.recorded_at > at_time) <> (b.effective_at > at_time)
        OFFSET 0 -- keeps conditions of the caller out of here: no other index is better
    ) b
$$;

CREATE FUNCTION ledger_lock_balances(platforms uuid[], account_ids bigint[], OUT positions integer[], OUT balances bigint[]) RETURNS record
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
BEGIN
    SELECT array_agg(l.position), array_agg(l.balance) INTO positions, balances
    FROM (
        SELECT w.position, b.balance
        FROM unnest(platforms, account_ids) WITH ORDINALITY AS w (platform_id, account_id, position)
        JOIN ledger_balances b ON b.platform_id = w.platform_id AND b.account_id = w.account_id
        ORDER BY w.position
        FOR UPDATE OF b
    ) l;
END
$$;

CREATE FUNCTION ledger_month_end(at_time timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    RETURN ((date_trunc('month'::text, (at_time AT TIME ZONE 'UTC'::text)) + '1 mon'::interval) AT TIME ZONE 'UTC'::text);

CREATE FUNCTION ledger_post(posted_at timestamp with time zone, platforms uuid[], posting_counts integer[], ids uuid[], posting_platforms integer[], platform_positions integer[], kinds text[], transaction_ids uuid[], effective_times timestamp with time zone[], memos text[], reversed_ids uuid[], digests bytea[], entry_postings integer[], entry_numbers smallint[], debit_account_ids bigint[], credit_account_ids bigint[], currencies text[], amounts bigint[], balance_platforms uuid[], balance_account_ids bigint[], net_changes bigint[], lowest_changes bigint[], highest_changes bigint[], OUT duplicates integer[], OUT mismatched integer[], OUT short_accounts integer[], OUT short_balances bigint[], OUT late_postings integer[], OUT earliest_allowed timestamp with time zone[]) RETURNS record
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    max_clock_offset   CONSTANT interval := interval '2 seconds';
    microsecond        CONSTANT interval := interval '1 microsecond';
    first_seqs         bigint[];      -- for each platform, the number before its first posting
    first_times        timestamptz[]; -- and the recorded time before it
    last_seq           bigint;
    last_time          timestamptz;
    soft_closed_before timestamptz;
    month_end          timestamptz;
    latest_close       timestamptz := '-infinity';
    lowest_effective   timestamptz := 'infinity';
    highest_effective  timestamptz := '-infinity';
    lowest_recorded    timestamptz := 'infinity';
    highest_recorded   timestamptz := '-infinity';
    effective_time     timestamptz;
    month_start        timestamptz;
    months_started     timestamptz[] := '{}';
BEGIN
    IF posted_at > clock_timestamp() + max_clock_offset AND current_setting('causeway.simulated_clock', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION 'the postings are recorded at %, but the database clock is at %', posted_at, clock_timestamp() USING ERRCODE = 'CW001';
    END IF;
    IF cardinality(balance_account_ids) > 0 THEN
        SELECT array_agg(l.position), array_agg(l.balance) FILTER (WHERE l.position IS NOT NULL)
        INTO short_accounts, short_balances
        FROM (
            SELECT CASE WHEN b.balance + d.lowest < 0 OR b.balance > 9223372036854775807 - d.highest THEN d.position END AS position, b.balance
            FROM unnest(balance_platforms, balance_account_ids, lowest_changes, highest_changes) WITH ORDINALITY AS d (platform_id, account_id, lowest, highest, position)
            JOIN ledger_balances b ON b.platform_id = d.platform_id AND b.account_id = d.account_id
            ORDER BY d.position
            FOR UPDATE OF b
        ) l;
        short_accounts := array_remove(short_accounts, NULL);
    END IF;
    FOR i IN 1 .. cardinality(platforms) LOOP
        -- A queue for the clock's row. Sessions that wait for the row itself are woken twice
        -- and read it again, which costs a third more when many post on one platform.
        PERFORM pg_advisory_xact_lock(uuid_hash_extended(platforms[i], 0));
        LOOP
            UPDATE ledger_clocks c
            SET seq = c.seq + posting_counts[i], recorded_at = greatest(posted_at, c.recorded_at + microsecond) + (posting_counts[i] - 1) * microsecond
            WHERE c.platform_id = platforms[i]
            RETURNING c.seq - posting_counts[i], c.recorded_at - posting_counts[i] * microsecond, c.soft_closed_before, c.month_end
            INTO last_seq, last_time, soft_closed_before, month_end;
            EXIT WHEN FOUND;
            -- The platform's first posting.
            INSERT INTO ledger_clocks (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
            INSERT INTO ledger_snapshot_progress (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
        END LOOP;
        IF last_time + posting_counts[i] * microsecond >= month_end THEN
            -- The whole batch belongs to the month of its last posting.
            month_start := date_trunc('month', last_time + posting_counts[i] * microsecond, 'UTC');
            last_time := greatest(last_time, month_start - microsecond);
            INSERT INTO ledger_months (platform_id, month, first_seq) VALUES (platforms[i], (month_start AT TIME ZONE 'UTC')::date, last_seq + 1)
            ON CONFLICT DO NOTHING;
            UPDATE ledger_clocks c
            SET recorded_at = last_time + posting_counts[i] * microsecond, month_end = ledger_month_end(month_start)
            WHERE c.platform_id = platforms[i];
            months_started := months_started || month_start;
        END IF;
        first_seqs[i] := last_seq;
        first_times[i] := last_time;
        lowest_recorded := least(lowest_recorded, last_time);
        highest_recorded := greatest(highest_recorded, last_time + posting_counts[i] * microsecond);
        IF soft_closed_before > latest_close THEN
            latest_close := soft_closed_before;
        END IF;
    END LOOP;
    -- After all clocks are locked, so that two sessions that start a month cannot deadlock.
    FOREACH month_start IN ARRAY months_started LOOP
        PERFORM ledger_create_month_partitions(month_start);
    END LOOP;
    SELECT array_agg(w.position) INTO duplicates
    FROM unnest(ids, posting_platforms) WITH ORDINALITY AS w (id, platform, position)
    JOIN ledger_posting_ids x ON x.platform_id = platforms[w.platform] AND x.id = w.id;
    IF duplicates IS NOT NULL THEN
        SELECT array_agg(w.position) INTO mismatched
        FROM unnest(ids, posting_platforms, digests) WITH ORDINALITY AS w (id, platform, digest, position)
        JOIN ledger_posting_ids x ON x.platform_id = platforms[w.platform] AND x.id = w.id
        JOIN ledger_postings p ON p.platform_id = x.platform_id AND p.seq = x.seq AND p.recorded_at = x.recorded_at
        WHERE p.digest <> w.digest;
    END IF;
    -- A loop of plain expressions: a query would cost every batch more.
    FOREACH effective_time IN ARRAY effective_times LOOP
        IF effective_time < lowest_effective THEN
            lowest_effective := effective_time;
        END IF;
        IF effective_time > highest_effective THEN
            highest_effective := effective_time;
        END IF;
    END LOOP;
    IF lowest_effective < latest_close THEN
        SELECT array_agg(l.position), array_agg(l.allowed)
        INTO late_postings, earliest_allowed
        FROM (
            SELECT w.position, w.effective_at, CASE
                WHEN EXISTS (SELECT FROM ledger_authorisations a WHERE a.platform_id = platforms[w.platform] AND a.posting_id = w.id)
                THEN c.closed_before ELSE c.soft_closed_before END AS allowed
            FROM unnest(ids, posting_platforms, effective_times) WITH ORDINALITY AS w (id, platform, effective_at, position)
            JOIN ledger_clocks c ON c.platform_id = platforms[w.platform]
            WHERE w.effective_at < c.soft_closed_before AND (duplicates IS NULL OR w.position <> ALL (duplicates))
        ) l
        WHERE l.effective_at < l.allowed;
    END IF;
    IF duplicates IS NOT NULL OR cardinality(short_accounts) > 0 OR late_postings IS NOT NULL THEN
        FOR i IN 1 .. cardinality(platforms) LOOP
            UPDATE ledger_clocks c SET seq = first_seqs[i] WHERE c.platform_id = platforms[i];
        END LOOP;
        RETURN;
    END IF;
    -- From here on only writes.
    INSERT INTO ledger_posting_ids (platform_id, id, reverses, seq, recorded_at)
    SELECT platforms[w.platform], w.id, w.reverses, first_seqs[w.platform] + w.nth, first_times[w.platform] + w.nth * microsecond
    FROM unnest(ids, posting_platforms, platform_positions, reversed_ids) AS w (id, platform, nth, reverses);
    INSERT INTO ledger_postings (platform_id, id, seq, kind, transaction_id, effective_at, recorded_at, memo, reverses, digest)
    SELECT platforms[w.platform], w.id, first_seqs[w.platform] + w.nth, w.kind, w.transaction_id, w.effective_at,
           first_times[w.platform] + w.nth * microsecond, w.memo, w.reverses, w.digest
    FROM unnest(ids, posting_platforms, platform_positions, kinds, transaction_ids, effective_times, memos, reversed_ids, digests)
        AS w (id, platform, nth, kind, transaction_id, effective_at, memo, reverses, digest);
    INSERT INTO ledger_entries (platform_id, seq, recorded_at, entry_no, debit_account_id, credit_account_id, currency, amount)
    SELECT platforms[posting_platforms[w.posting]], first_seqs[posting_platforms[w.posting]] + platform_positions[w.posting],
           first_times[posting_platforms[w.posting]] + platform_positions[w.posting] * microsecond, w.entry_no, w.debit, w.credit, w.currency, w.amount
    FROM unnest(entry_postings, entry_numbers, debit_account_ids, credit_account_ids, currencies, amounts) AS w (posting, entry_no, debit, credit, currency, amount);
    IF highest_recorded - lowest_effective > interval '10 seconds' OR lowest_recorded - highest_effective < interval '-10 seconds' THEN
        INSERT INTO ledger_backdated_entries (platform_id, seq, entry_no, effective_at, recorded_at, debit_account_id, credit_account_id, amount)
        SELECT platforms[e.platform], first_seqs[e.platform] + e.nth, e.entry_no, e.effective_at, first_times[e.platform] + e.nth * microsecond, e.debit, e.credit, e.amount
        FROM (SELECT posting_platforms[w.posting] AS platform, platform_positions[w.posting] AS nth, effective_times[w.posting] AS effective_at, w.entry_no, w.debit, w.credit, w.amount
              FROM unnest(entry_postings, entry_numbers, debit_account_ids, credit_account_ids, amounts) AS w (posting, entry_no, debit, credit, amount)) e
        WHERE first_times[e.platform] + e.nth * microsecond - e.effective_at > interval '10 seconds'
           OR first_times[e.platform] + e.nth * microsecond - e.effective_at < interval '-10 seconds';
    END IF;
    IF cardinality(balance_account_ids) > 0 THEN
        UPDATE ledger_balances b SET balance = b.balance + d.net_change
        FROM unnest(balance_platforms, balance_account_ids, net_changes) AS d (platform_id, account_id, net_change)
        WHERE b.platform_id = d.platform_id AND b.account_id = d.account_id;
    END IF;
END
$$;

CREATE FUNCTION ledger_queue_decision() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    VALUES (NEW.platform_id, coalesce(TG_ARGV[0], 'proposal-decision'), NEW.id::text, clock_timestamp()) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION ledger_queue_evidence() RETURNS trigger
    LANGUAGE plpgsql
    SET "DateStyle" TO 'ISO, YMD'
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
        SELECT platform_id, %L, concat_ws(''/'', %s), clock_timestamp() FROM inserted WHERE platform_id IS NOT NULL ON CONFLICT DO NOTHING',
        TG_ARGV[0], (SELECT string_agg(quote_ident(c.name), ', ' ORDER BY c.no) FROM unnest(TG_ARGV[1:]) WITH ORDINALITY c (name, no)));
    RETURN NULL;
END
$$;

CREATE FUNCTION ledger_queue_kept_rates() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger_settings s WHERE s.platform_id = NEW.platform_id AND s.version <> NEW.version AND s.functional_currency <> '') THEN
        RETURN NULL;
    END IF;
    LOCK TABLE market_rates IN SHARE MODE;
    INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT NEW.platform_id, 'market-rates', c.kept_at::text, clock_timestamp() FROM (SELECT DISTINCT kept_at FROM market_rates) c ORDER BY c.kept_at
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION ledger_queue_kept_rates() FROM PUBLIC;

CREATE FUNCTION ledger_queue_market_rates() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    AS $$
BEGIN
    INSERT INTO ledger_evidence_queue AS q (platform_id, kind, subject, queued_at)
    SELECT s.platform_id, TG_ARGV[0], c.kept_at::text, clock_timestamp()
    FROM (SELECT DISTINCT kept_at FROM changed) c CROSS JOIN (SELECT DISTINCT platform_id FROM ledger_settings WHERE functional_currency <> '') s
    ORDER BY s.platform_id, c.kept_at
    ON CONFLICT (platform_id, kind, subject) DO UPDATE SET queued_at = q.queued_at;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION ledger_queue_market_rates() FROM PUBLIC;

CREATE FUNCTION ledger_queue_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    changed record := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF current_user = 'causeway_service' THEN
        INSERT INTO ledger_evidence_queue AS q (platform_id, kind, subject, queued_at)
        VALUES (changed.platform_id, TG_ARGV[0], changed.id::text, clock_timestamp())
        ON CONFLICT (platform_id, kind, subject) DO UPDATE SET queued_at = q.queued_at;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION ledger_refuse() RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the postings are refused' USING ERRCODE = 'CW002', HINT = 'Call ledger_post alone to learn why.';
END
$$;

CREATE FUNCTION ledger_refuse_account_ids() RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'an account has another id than when the process read it' USING ERRCODE = 'CW003',
        HINT = 'The database has lost commits. Read the ids of the accounts again.';
END
$$;

CREATE FUNCTION ledger_seq_at(platform uuid, at_time timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    low         bigint;
    high        bigint;
    middle      bigint;
    month_start timestamptz;
    month_end   timestamptz;
BEGIN
    SELECT m.first_seq - 1, m.month::timestamp AT TIME ZONE 'UTC' INTO low, month_start
    FROM ledger_months m WHERE m.platform_id = platform AND m.month <= (at_time AT TIME ZONE 'UTC')::date ORDER BY m.month DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    month_end := ledger_month_end(month_start);
    SELECT m.first_seq - 1 INTO high
    FROM ledger_months m WHERE m.platform_id = platform AND m.month > (at_time AT TIME ZONE 'UTC')::date ORDER BY m.month LIMIT 1;
    IF NOT FOUND THEN
        SELECT c.seq INTO high FROM ledger_clocks c WHERE c.platform_id = platform;
    END IF;
    -- From its last microsecond on, the whole month counts.
    IF at_time >= month_end - interval '1 microsecond' THEN
        RETURN high;
    END IF;
    -- Binary search: recorded time grows with the number.
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT p.recorded_at <= at_time FROM ledger_postings p
            WHERE p.platform_id = platform AND p.seq = middle AND p.recorded_at >= month_start AND p.recorded_at < month_end) THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END
$$;

REVOKE ALL ON FUNCTION partition_end(partition regclass) FROM PUBLIC;

CREATE FUNCTION partition_end(partition regclass) RETURNS uuid
    LANGUAGE sql STABLE STRICT
    RETURN (SELECT ((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([0-9a-f-]{36})''\)'::text))[1])::uuid AS regexp_match FROM pg_class c WHERE (c.oid = (partition_end.partition)::oid));

CREATE FUNCTION platform_check_uma_domain() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('uma domain ' || NEW.uma_domain, 0)); -- the next statement sees who has it
    IF EXISTS (SELECT FROM platforms p WHERE p.environment = 'PRODUCTION' AND p.uma_domain = NEW.uma_domain AND p.id <> NEW.id) THEN
        RAISE EXCEPTION 'another production platform has the UMA domain %', NEW.uma_domain
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'platform_uma_domain_unique', TABLE = 'platforms';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION platform_check_uma_domain() FROM PUBLIC;

CREATE FUNCTION queue_search_keys() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    changed record := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    INSERT INTO search_queue AS q (platform_id, kind, object_id, queued_at)
    VALUES (changed.platform_id, TG_ARGV[0], changed.id, clock_timestamp())
    ON CONFLICT (platform_id, kind, object_id) DO UPDATE SET queued_at = q.queued_at;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM search_keys WHERE platform_id = changed.platform_id AND kind = TG_ARGV[0] AND object_id = changed.id;
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION queue_search_keys() FROM PUBLIC;

CREATE FUNCTION rail_check_balance() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT is_owner_of(TG_RELID) AND NOT EXISTS (
        SELECT FROM rail_proposals p WHERE p.id = NEW.proposal_id AND p.status = 'PENDING' AND p.expires_at > now()
            AND p.operation = 'rails balance' AND p.request::jsonb ->> 'connection' = NEW.connection
            AND p.request::jsonb ->> 'currency' = NEW.currency AND coalesce((p.request::jsonb ->> 'amount')::bigint, 0) = NEW.amount
            AND (p.request::jsonb ->> 'at')::timestamptz = NEW.at) THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, NEW.proposal_id);
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION rail_check_person() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT is_owner_of(TG_RELID) AND NOT (EXISTS (SELECT FROM people p WHERE p.id = NEW.person_id AND p.status = 'ACTIVE')
        AND EXISTS (SELECT FROM rail_connections c WHERE c.name = NEW.name)) THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('permission denied for table %s: the service stops connections only for a person who may sign in', TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION rail_check_proposal_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'rail_proposal_decided_once', TABLE = 'rail_proposals';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION rail_check_proposed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF is_owner_of(TG_RELID) OR EXISTS (
        SELECT FROM rail_proposals p WHERE p.id = NEW.proposal_id AND p.status = 'PENDING' AND p.expires_at > now()
            AND p.request::jsonb ->> 'connection' = NEW.name AND coalesce((p.request::jsonb ->> 'afterVersion')::integer, 0) = NEW.version - 1
            AND CASE p.operation
                WHEN 'rails set' THEN NEW.state = 'OPEN' AND NEW.settings - 'exclusive' = p.request::jsonb -> 'file'
                ELSE (p.operation, NEW.state) IN (('rails retire', 'RETIRED'), ('rails delete', 'DELETED'))
                    AND EXISTS (SELECT FROM rail_connections c WHERE c.name = NEW.name AND c.settings = NEW.settings)
            END) THEN
        RETURN NEW;
    END IF;
    PERFORM refuse_unproposed(TG_TABLE_NAME, NEW.proposal_id);
    RETURN NULL;
END
$$;

CREATE FUNCTION rail_check_test() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT is_owner_of(TG_RELID) AND NOT EXISTS (
        SELECT FROM rail_connections c JOIN rail_proposals p ON p.id = c.proposal_id AND p.status = 'PENDING'
        WHERE c.name = NEW.connection AND c.version = NEW.version AND NOT coalesce((p.request::jsonb ->> 'untested')::boolean, false)) THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, NULL);
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION refuse_posting_after_loss() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM lost_commit_findings f WHERE NOT EXISTS (SELECT FROM lost_commit_reviews r WHERE r.finding_id = f.id)) THEN
        RAISE EXCEPTION 'nothing is posted, because the database has lost commits' USING ERRCODE = 'CW004', HINT = 'Run causeway recover.';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION refuse_unproposed(relation name, proposal uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF proposal IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s: the service changes it only as it was proposed', relation);
    END IF;
    RAISE EXCEPTION 'the service changes % only as it was proposed', relation
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'changed_as_proposed', TABLE = relation;
END
$$;

CREATE FUNCTION reject_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed: the table is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = coalesce(TG_ARGV[0], '');
END
$$;

CREATE FUNCTION remove_unmatched_waiting() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM unmatched_waiting WHERE platform_id = NEW.platform_id
        AND seq = (SELECT x.seq FROM ledger_posting_ids x WHERE x.platform_id = NEW.platform_id AND x.id = NEW.posting_id);
    RETURN NULL;
END $$;

CREATE FUNCTION require_payment_authorization() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF NEW.payer_authorization = 'REQUIRED' OR NOT EXISTS (
        SELECT FROM payment_authorizations a WHERE a.platform_id = NEW.platform_id AND a.transaction_id = NEW.id) THEN
        RAISE EXCEPTION 'transaction % has a payer who has to authorise it, and has not', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION require_wallet_authorization() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM wallet_authorizations a WHERE a.platform_id = NEW.platform_id AND a.id = NEW.id) THEN
        RAISE EXCEPTION 'transaction % is paid by an embedded wallet, and nobody has signed it', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION time_partitions(parent regclass) FROM PUBLIC;

CREATE FUNCTION time_partitions(parent regclass) RETURNS TABLE(partition regclass, ends_before uuid)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT (i.inhrelid)::regclass AS inhrelid,
     partition_end((i.inhrelid)::regclass) AS partition_end
    FROM pg_inherits i
   WHERE ((i.inhparent = (time_partitions.parent)::oid) AND (partition_end((i.inhrelid)::regclass) IS NOT NULL))
   ORDER BY (partition_end((i.inhrelid)::regclass));
END;

CREATE FUNCTION uuid_v7_time(id uuid) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN to_timestamp((((((('x'::text || "left"(replace((id)::text, '-'::text, ''::text), 12)))::bit(48))::bigint)::numeric / 1000.0))::double precision);

CREATE FUNCTION visible_platform() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(NULLIF(current_setting('causeway.platform'::text, true), ''::text), '*'::text))::uuid;
