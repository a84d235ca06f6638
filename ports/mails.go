package ports

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// StepSendMail sends a mail. Its subject is the mail.
const StepSendMail transaction.Step = "send-mail"

// MailersByEnvironment holds the mailers of the environments. Platforms of an environment without one
// send no mails.
type MailersByEnvironment map[platform.Environment]Mailer

// MailKind says what a mail is about.
type MailKind string

// The kinds of mail.
const (
	MailCode              MailKind = "CODE"
	MailWalletExported    MailKind = "WALLET_EXPORTED"
	MailCredentialAdded   MailKind = "CREDENTIAL_ADDED"
	MailCredentialRemoved MailKind = "CREDENTIAL_REMOVED"
	MailAddressChanged    MailKind = "ADDRESS_CHANGED"
)

// MailKinds lists every kind.
var MailKinds = []MailKind{MailCode, MailWalletExported, MailCredentialAdded, MailCredentialRemoved, MailAddressChanged}

// QueuedMail is a mail that is sent after the commit that adds it.
type QueuedMail struct {
	Mail
	Platform  ident.Platform
	Kind      MailKind
	CreatedAt time.Time
	// ExpiresAt is when it is of no use any more.
	ExpiresAt time.Time
}

// MailStatus is what became of a mail.
type MailStatus string

// The statuses.
const (
	MailWaiting MailStatus = "WAITING" // to be sent
	MailSent    MailStatus = "SENT"    // the mail server has taken it
	MailRefused MailStatus = "REFUSED" // the mail server will not take it
	MailExpired MailStatus = "EXPIRED" // it could not be sent in time
)

// MailOutcome is the end of a mail. A mail that has ended is kept without its content.
type MailOutcome struct {
	Status MailStatus
	// Reason is why the mail was not sent, in words for operators and without addresses.
	Reason string
	At     time.Time
}

// MailFilter selects mails. Empty fields select all.
type MailFilter struct {
	Platform ident.Platform
	Status   MailStatus
	Limit    int
}

// ListedMail is a mail as operators see it: without its content.
type ListedMail struct {
	ID        uuid.UUID
	Platform  ident.Platform
	Kind      MailKind
	CreatedAt time.Time
	ExpiresAt time.Time
	MailOutcome
}
