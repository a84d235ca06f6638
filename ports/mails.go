package ports

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// The steps that send a mail or a text message, which is their subject.
const (
	StepSendMail transaction.Step = "send-mail"
	StepSendSMS  transaction.Step = "send-sms"
	// StepSendSMSNotice is that of the text messages which a process of the previous version would give to the mail server.
	StepSendSMSNotice transaction.Step = "send-sms-notice"
)

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
	// SMSCode and the next ones are text messages.
	SMSCode              MailKind = "SMS_CODE"
	SMSWalletExported    MailKind = "SMS_WALLET_EXPORTED"
	SMSCredentialAdded   MailKind = "SMS_CREDENTIAL_ADDED"
	SMSCredentialRemoved MailKind = "SMS_CREDENTIAL_REMOVED"
	SMSAddressChanged    MailKind = "SMS_ADDRESS_CHANGED"
)

// MailKinds lists every kind.
var MailKinds = []MailKind{MailCode, MailWalletExported, MailCredentialAdded, MailCredentialRemoved, MailAddressChanged,
	SMSCode, SMSWalletExported, SMSCredentialAdded, SMSCredentialRemoved, SMSAddressChanged}

const smsPrefix = "SMS_"

// IsSMS reports whether it is the kind of a text message.
func (k MailKind) IsSMS() bool { return strings.HasPrefix(string(k), smsPrefix) }

// AsSMS returns the kind of the text message about the same.
func (k MailKind) AsSMS() MailKind { return smsPrefix + k }

// Step returns the step that sends what is of this kind.
func (k MailKind) Step() transaction.Step {
	switch {
	case k == SMSCode:
		return StepSendSMS
	case k.IsSMS():
		return StepSendSMSNotice
	default:
		return StepSendMail
	}
}

// QueuedMail is a mail, or a text message, that is sent after the commit that adds it. Of a text message, Mail has
// the id, the number, the name of the sender and the text.
type QueuedMail struct {
	Mail
	Platform ident.Platform
	Kind     MailKind
	// Topic is what it is about: it takes the place of those about the same that were not sent yet. Empty for none.
	Topic     string
	CreatedAt time.Time
	// ExpiresAt is when it is of no use any more.
	ExpiresAt time.Time
}

// SMS returns the text message.
func (m QueuedMail) SMS() SMS {
	return SMS{ID: m.ID, Platform: m.Platform, To: m.To, Sender: m.FromName, Text: m.Text, ExpiresAt: m.ExpiresAt}
}

// MailStatus is what became of a mail.
type MailStatus string

// The statuses.
const (
	MailWaiting MailStatus = "WAITING" // to be sent
	MailSent    MailStatus = "SENT"    // the mail server has taken it
	MailRefused MailStatus = "REFUSED" // the mail server will not take it
	MailExpired MailStatus = "EXPIRED" // it could not be sent in time, or before a newer one
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
