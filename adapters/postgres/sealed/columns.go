// Package sealed encrypts the columns with personal data. It has the register of all of them, also of those that one connector
// reads and writes: a data key is removed only when no column uses it, so every program that opens the database has to know all.
package sealed

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/google/uuid"
)

// A Column is a column with personal data, which is stored encrypted. Sealing and opening take nothing else, so no column is
// encrypted that a rotation of the keys does not know.
type Column int

// Columns that are stored encrypted. A new one needs a line here and one in register.
const (
	CustomersEmail Column = iota
	CustomersDetails
	CustomersContacts
	ExternalAccountsFields
	ExternalAccountsBeneficiary
	ExternalAccountsVerifiedName
	ExternalAccountsFingerprint
	ExternalAccountsOwnership
	TransactionsDetails
	IdempotencyKeysBody
	DocumentsDetails
	WebhookEventsBody // sealed by the package outbox
	LookupsReceiverInfo
	ReconciliationLinesReferences
	ReconciliationLinesDescription
	BeneficialOwnersDetails
	VerificationsDetails
	CustomerImportChunksRows
	VerificationReviewsDetails
	ScreeningHitsDetails
	InvitationsFirstName
	InternalAccountsInstructions
	WalletKeysEntropy // only by SealSecret and OpenSecret
	MailsContent
	WalletCredentialsNickname
	WalletCredentialsEmail
	WalletCredentialsEmailFingerprint
	WalletCredentialsIdentity
	WalletAuthorizationsPayload
	AgentsName
	AgentActionsReason
	AgentActionsRemittance
	RailFeedItemsContent
	RailStatementsContent
	PartnerEventsBody
	BankOrdersDetails
	BankOrdersReason
	BankCorrectionsDetails
	ReceiptPayersAccount
	PersonFactorsSecrets
	UMAKeysSecrets
	SearchKeysHash
	CustomerNotesContent
	SCACredentialsTOTPSecret
	SCASessionsIPAddress
	UMAInvoicesContent
	ExportPartsKey
	numColumns // keep last
)

// register is the register of the columns that are stored encrypted. causeway_service needs the
// privilege to update them, and to select the rest of the row.
var register = [numColumns]struct {
	table, name string
	format      columnFormat
}{
	CustomersEmail:               {"customers", "email", textFormat},
	CustomersDetails:             {"customers", "details", jsonFormat},
	CustomersContacts:            {"customers", "contacts", jsonFormat},
	ExternalAccountsFields:       {"external_accounts", "fields", jsonFormat},
	ExternalAccountsBeneficiary:  {"external_accounts", "beneficiary", jsonFormat},
	ExternalAccountsVerifiedName: {"external_accounts", "verified_name", textFormat},
	ExternalAccountsFingerprint:  {"external_accounts", "fingerprint", fingerprintFormat},
	ExternalAccountsOwnership:    {"external_accounts", "ownership", jsonFormat},
	TransactionsDetails:          {"transactions", "details", textFormat},
	IdempotencyKeysBody:          {"idempotency_keys", "body", bytesFormat},
	DocumentsDetails:             {"documents", "details", jsonFormat},
	BeneficialOwnersDetails:      {"beneficial_owners", "details", jsonFormat},
	VerificationsDetails:         {"verifications", "details", jsonFormat},
	VerificationReviewsDetails:   {"verification_reviews", "details", jsonFormat},
	ScreeningHitsDetails:         {"screening_hits", "details", jsonFormat},
	WebhookEventsBody:            {"webhook_events", "body", bytesFormat},
	LookupsReceiverInfo:          {"lookups", "receiver_info", jsonFormat},
	CustomerImportChunksRows:     {"customer_import_chunks", "rows", bytesFormat},
	InvitationsFirstName:         {"invitations", "first_name", textFormat},
	InternalAccountsInstructions: {"internal_accounts", "instructions", textFormat}, // the holder of a bank account
	WalletKeysEntropy:            {"wallet_keys", "entropy", bytesFormat},
	MailsContent:                 {"mails", "content", textFormat},

	WalletCredentialsNickname:         {"wallet_credentials", "nickname", textFormat},
	WalletCredentialsEmail:            {"wallet_credentials", "email", textFormat},
	WalletCredentialsEmailFingerprint: {"wallet_credentials", "email_fingerprint", fingerprintFormat},
	WalletCredentialsIdentity:         {"wallet_credentials", "identity", jsonFormat},
	WalletAuthorizationsPayload:       {"wallet_authorizations", "payload", textFormat},
	AgentsName:                        {"agents", "name", textFormat},
	AgentActionsReason:                {"agent_actions", "reason", textFormat}, // free text of the platform
	AgentActionsRemittance:            {"agent_actions", "remittance", textFormat},
	PartnerEventsBody:                 {"partner_events", "body", textFormat},
	BankOrdersDetails:                 {"bank_orders", "details", textFormat},
	BankOrdersReason:                  {"bank_orders", "reason", textFormat}, // free text of the bank
	BankCorrectionsDetails:            {"bank_corrections", "details", textFormat},

	ReceiptPayersAccount:  {"receipt_payers", "account", textFormat},
	RailFeedItemsContent:  {"rail_feed_items", "content", textFormat},
	RailStatementsContent: {"rail_statements", "content", bytesFormat},
	PersonFactorsSecrets:  {"person_factors", "secrets", jsonFormat},
	UMAKeysSecrets:        {"uma_keys", "secrets", jsonFormat},
	UMAInvoicesContent:    {"uma_invoices", "content", textFormat},
	ExportPartsKey:        {"export_parts", "key", bytesFormat},

	SearchKeysHash:       {"search_keys", "hash", fingerprintFormat},
	CustomerNotesContent: {"customer_notes", "content", textFormat},

	SCACredentialsTOTPSecret: {"sca_credentials", "totp_secret", textFormat},
	SCASessionsIPAddress:     {"sca_sessions", "ip_address", textFormat},

	ReconciliationLinesReferences:  {"reconciliation_lines", "reference_list", textFormat},
	ReconciliationLinesDescription: {"reconciliation_lines", "description", textFormat},
}

// encryptedSince is the generation of data keys with which a column began to be encrypted, for those
// that versions before stored as they are.
var encryptedSince = map[Column]int{
	InternalAccountsInstructions:   2,
	LookupsReceiverInfo:            2,
	ReconciliationLinesReferences:  2,
	ReconciliationLinesDescription: 2,
}

// neverSealed are the rows, as conditions, whose value of a column identifies no person and is stored as
// it is. Commands without the master key write and read these.
var neverSealed = map[Column]string{
	InternalAccountsInstructions:      "customer_id IS NULL",    // an account of the platform
	WalletCredentialsEmailFingerprint: "email_fingerprint = ''", // no address
}

// Columns returns all columns of the register.
func Columns() []Column {
	all := make([]Column, numColumns)
	for i := range all {
		all[i] = Column(i)
	}
	return all
}

// String returns the names of the table and of the column.
func (c Column) String() string { return register[c].table + "." + register[c].name }

// Table returns the table of the column.
func (c Column) Table() string { return register[c].table }

// Name returns the name of the column in its table.
func (c Column) Name() string { return register[c].name }

// SQLType returns the type of the column.
func (c Column) SQLType() string { return register[c].format.sqlType() }

// IsFingerprint reports whether the column holds a keyed hash, by which equal values are found, and which is never replaced.
func (c Column) IsFingerprint() bool { return register[c].format == fingerprintFormat }

// KeySQL is the id of the data key that the column is encrypted with, in 16 bytes: none if the value is plain, and NULL if there
// is nothing to encrypt, or the row is never encrypted.
func (c Column) KeySQL() string {
	sql := register[c].format.keySQL(register[c].name)
	if rows, some := neverSealed[c]; some {
		return fmt.Sprintf("CASE WHEN %s THEN NULL ELSE %s END", rows, sql)
	}
	return sql
}

// Row identifies a row to the cipher, which binds values to it.
type Row struct{ Platform, ID uuid.UUID }

// context returns what binds a value to its column and row.
func (c Column) context(row Row) []byte {
	column := register[c]
	context := make([]byte, 0, len(column.table)+len(column.name)+2*len(uuid.UUID{})+2)
	context = append(append(append(append(context, column.table...), '.'), column.name...), 0)
	return append(append(context, row.Platform[:]...), row.ID[:]...)
}

// columnFormat says how a column stores encrypted values, and how these differ from plain ones,
// which were written before there was a data key.
type columnFormat int

const (
	textFormat        columnFormat = iota + 1 // a control character before base64
	jsonFormat                                // a string of base64; a plain value is an object or array
	bytesFormat                               // begins with a version below any printable character; a plain value is a text
	fingerprintFormat                         // a keyed hash by which equal values are found, which is never replaced
)

const sealedTextPrefix = "\x01"

// encode returns the column value of an encrypted value.
func (f columnFormat) encode(sealed []byte) []byte {
	switch f {
	case textFormat:
		return base64.StdEncoding.AppendEncode([]byte(sealedTextPrefix), sealed)
	case jsonFormat:
		return append(base64.StdEncoding.AppendEncode([]byte{'"'}, sealed), '"')
	default:
		return sealed
	}
}

// decode returns the encrypted value of a column value, and false if that is plain.
func (f columnFormat) decode(stored []byte) (sealed []byte, isSealed bool, err error) {
	switch encoded := stored; {
	case f == textFormat && bytes.HasPrefix(encoded, []byte(sealedTextPrefix)):
		sealed, err = base64.StdEncoding.AppendDecode(nil, encoded[len(sealedTextPrefix):])
		return sealed, true, err
	case f == jsonFormat && bytes.HasPrefix(encoded, []byte{'"'}):
		sealed, err = base64.StdEncoding.AppendDecode(nil, bytes.Trim(encoded, `"`))
		return sealed, true, err
	case f == bytesFormat && len(encoded) > 0 && encoded[0] < ' ':
		return encoded, true, nil
	}
	return nil, false, nil
}

// sqlType is the type of the column.
func (f columnFormat) sqlType() string {
	switch f {
	case jsonFormat:
		return "jsonb"
	case bytesFormat:
		return "bytea"
	default:
		return "text"
	}
}

// keySQL is the id of the data key that a column is encrypted with, in 16 bytes: none if the value
// is plain, and NULL if there is nothing to encrypt. A sealed value is a version, the id and more.
func (f columnFormat) keySQL(column string) string {
	sql := map[columnFormat]string{
		textFormat:        `CASE WHEN left(%[1]s, 1) = E'\x01' THEN substr(decode(substr(%[1]s, 2, 24), 'base64'), 2, 16) WHEN %[1]s <> '' THEN '' END`,
		jsonFormat:        `CASE WHEN jsonb_typeof(%[1]s) = 'string' THEN substr(decode(left(%[1]s #>> '{}', 24), 'base64'), 2, 16) WHEN jsonb_typeof(%[1]s) <> 'null' THEN '' END`,
		bytesFormat:       `CASE WHEN length(%[1]s) = 0 THEN NULL WHEN get_byte(%[1]s, 0) < 32 THEN substr(%[1]s, 2, 16) ELSE '' END`,
		fingerprintFormat: `CASE WHEN NOT starts_with(%[1]s, 'hmac-sha256:') THEN ''::bytea END`,
	}
	return fmt.Sprintf(sql[f], column)
}
