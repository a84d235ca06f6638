// Package mail writes mails as internet messages (RFC 5322), in plain text and HTML. The packages below it
// hand them to a mail server (smtp) or to a folder.
package mail

import (
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"

	"causeway/ports"
)

// Message returns a mail as an internet message. A sender that is not the author is named in it; it may be
// empty. What would break a header is replaced. The error is a *ports.MessageRefusedError: an address is
// invalid. It does not contain the address.
func Message(m ports.Mail, sender string) (*gomail.Msg, error) {
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	// A backslash in a name with other letters than ASCII would make a header that nobody can read.
	from, err := address("sender", strings.ReplaceAll(oneLine(m.FromName), `\`, "/"), m.FromAddress)
	if err != nil {
		return nil, err
	}
	to, err := address("recipient", "", m.To)
	if err != nil {
		return nil, err
	}
	message.FromMailAddress(from)
	message.ToMailAddress(to)
	if m.ReplyTo != "" {
		replyTo, err := address("reply-to", "", m.ReplyTo)
		if err != nil {
			return nil, err
		}
		message.ReplyToMailAddress(replyTo)
	}
	if sender != "" {
		envelope, err := address("envelope sender", "", sender)
		if err != nil {
			return nil, err
		}
		message.EnvelopeFromMailAddress(envelope)
		if envelope.Address != from.Address {
			message.SetGenHeader("Sender", envelope.String())
		}
	}
	message.Subject(oneLine(m.Subject))
	message.SetMessageIDWithValue(m.ID.String() + from.Address[strings.LastIndexByte(from.Address, '@'):])
	message.SetDateWithValue(sentAt(m))
	message.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic reply
	message.SetBodyString(gomail.TypeTextPlain, m.Text)
	message.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return message, nil
}

// address returns an address with an ASCII domain.
func address(role, name, text string) (*mail.Address, error) {
	refused := &ports.MessageRefusedError{Reason: fmt.Sprintf("the address of the %s is not valid", role)}
	at := strings.LastIndexByte(text, '@')
	if at < 1 || text != oneLine(text) {
		return nil, refused
	}
	domain, err := idna.Lookup.ToASCII(text[at+1:])
	if err != nil || domain == "" {
		return nil, refused
	}
	parsed, err := mail.ParseAddress(text[:at+1] + domain)
	if err != nil || parsed.Name != "" || parsed.Address != text[:at+1]+domain {
		return nil, refused
	}
	parsed.Name = name
	return parsed, nil
}

// oneLine replaces each line break and other control character by a space.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// sentAt returns when a mail was made, by its id, so that a repeated one is the same.
func sentAt(m ports.Mail) time.Time {
	if m.ID.Version() != 7 {
		return time.Now().UTC()
	}
	seconds, nanoseconds := m.ID.Time().UnixTime()
	return time.Unix(seconds, nanoseconds).UTC()
}
