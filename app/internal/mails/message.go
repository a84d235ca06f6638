package mails

import (
	"fmt"
	"strings"
	"time"

	"causeway/core/wallet"
	"causeway/ports"
)

// Message is what a mail or a text message says.
type Message struct {
	kind     ports.MailKind
	lifetime time.Duration
	topic    string
	content
}

// content is what the templates show, apart from the platform.
type content struct {
	// Code is a one-time code; empty for a notice.
	Code string
	// Title of the mail, a sentence without its full stop.
	Title string
	// Paragraphs below it.
	Paragraphs []string
	// SMS is what a notice says as a text message: little, and nothing that its owner or another person has written.
	SMS string
}

// About returns the message about a topic: one about the same that was not sent yet is not sent any more. A topic has no data of persons.
func (m Message) About(topic ...string) Message {
	m.topic = strings.Join(topic, " ")
	return m
}

// Code is a mail with a one-time code, which is valid for some time.
func Code(code string, lifetime time.Duration) Message {
	return Message{kind: ports.MailCode, lifetime: lifetime, content: content{Code: code, Paragraphs: []string{
		fmt.Sprintf("The code expires in %s, works once, and only the newest one works.", lifetimeText(lifetime)),
		"If you did not ask for it, ignore this e-mail: nothing happens without the code. Do not give it to anyone who asks.",
	}}}
}

// SMSCode is a text message with a one-time code, which is valid for some time. purpose is what the code does, such as
// "to pay EUR 10.00 to Acme GmbH"; empty if that needs no words.
func SMSCode(code, purpose string, lifetime time.Duration) Message {
	return Message{kind: ports.SMSCode, lifetime: lifetime, content: content{Code: code, Title: purpose}}
}

// WalletExported tells a customer that the words of the wallet were exported.
func WalletExported(at time.Time) Message {
	return notice(ports.MailWalletExported, "Your wallet was exported",
		fmt.Sprintf("Your wallet was exported on %s. If it was not you, move what is in it to another one at once, and contact us.",
			shortTimeText(at)),
		fmt.Sprintf("The recovery words of your wallet were exported on %s. Anyone who has these words can spend what is in the wallet, "+
			"without this app and without signing in.", timeText(at)),
		"If it was you, keep the words secret and safe. If it was not, move what is in the wallet to another one at once, and contact us.")
}

// CredentialAdded tells a customer that there is a new way to sign in to the wallet.
func CredentialAdded(c wallet.Credential, at time.Time) Message {
	return notice(ports.MailCredentialAdded, "A new way to sign in was added to your wallet",
		fmt.Sprintf("%s was added to your wallet on %s. If it was not you, remove it and contact us.", sentence(credentialTypes[c.Type]),
			shortTimeText(at)),
		fmt.Sprintf("%s was added to your wallet on %s. It can be used to sign in and to approve payments.", sentence(credentialText(c)),
			timeText(at)),
		"If it was not you, sign in, remove it, and contact us.")
}

// CredentialRemoved tells a customer that a way to sign in to the wallet exists no more.
func CredentialRemoved(c wallet.Credential, at time.Time) Message {
	return notice(ports.MailCredentialRemoved, "A way to sign in was removed from your wallet",
		fmt.Sprintf("%s was removed from your wallet on %s. If it was not you, contact us.", sentence(credentialTypes[c.Type]),
			shortTimeText(at)),
		fmt.Sprintf("%s was removed from your wallet on %s. It can no longer be used to sign in.", sentence(credentialText(c)), timeText(at)),
		"If it was not you, sign in, look at the ways to sign in that remain, and contact us.")
}

// AddressChanged tells a customer, at the old e-mail address, that codes of a type of credential are sent elsewhere.
func AddressChanged(t wallet.CredentialType, at time.Time) Message {
	if t == wallet.SMSOTP {
		return notice(ports.MailAddressChanged, "The phone number of your wallet was changed",
			fmt.Sprintf("The phone number of your wallet was changed on %s. If it was not you, contact us at once.", shortTimeText(at)),
			fmt.Sprintf("On %s the phone number of your wallet was changed. From now on, codes to sign in are sent to the new number and no "+
				"longer to the one before.", timeText(at)),
			"If it was not you, contact us at once.")
	}
	return notice(ports.MailAddressChanged, "The e-mail address of your wallet was changed",
		fmt.Sprintf("The e-mail address of your wallet was changed on %s. If it was not you, contact us at once.", shortTimeText(at)),
		fmt.Sprintf("On %s the e-mail address of your wallet was changed. From now on, codes to sign in are sent to the new address and no "+
			"longer to this one.", timeText(at)),
		"If it was not you, contact us at once.")
}

func notice(kind ports.MailKind, title, sms string, paragraphs ...string) Message {
	return Message{kind: kind, lifetime: noticeLifetime, content: content{Title: title, Paragraphs: paragraphs, SMS: sms}}
}

// credentialTypes name the types of credentials.
var credentialTypes = map[wallet.CredentialType]string{
	wallet.EmailOTP: "sign-in by codes to an e-mail address", wallet.SMSOTP: "sign-in by codes to a phone",
	wallet.Passkey: "a passkey", wallet.OAuth: "sign-in with an account elsewhere",
}

// credentialText names a credential.
func credentialText(c wallet.Credential) string {
	text := credentialTypes[c.Type]
	if c.Nickname == "" {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, c.Nickname)
}

// sentence begins a text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func timeText(at time.Time) string { return at.UTC().Format("2 January 2006 at 15:04 UTC") }

func shortTimeText(at time.Time) string { return at.UTC().Format("2 Jan at 15:04 UTC") }

// lifetimeText formats a duration of at least a second, rounded down to its largest unit or two.
func lifetimeText(d time.Duration) string {
	plural := func(n time.Duration, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	hours, minutes, seconds := d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second
	switch {
	case hours > 0 && minutes > 0:
		return plural(hours, "hour") + " and " + plural(minutes, "minute")
	case hours > 0:
		return plural(hours, "hour")
	case minutes > 0 && seconds > 0:
		return plural(minutes, "minute") + " and " + plural(seconds, "second")
	case minutes > 0:
		return plural(minutes, "minute")
	default:
		return plural(seconds, "second")
	}
}
