// Package smtp sends mails to a mail server (RFC 5321), over TLS.
package smtp

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"causeway/adapters/mail"
	"causeway/ports"
)

// Config says how mails are sent.
type Config struct {
	Server
	// From is the envelope sender: replies of mail servers, such as that a mailbox is full, go there.
	From string
	// Timeout of the whole dialogue with the server; a minute if zero.
	Timeout time.Duration
	// RootCAs sign the certificate of the server; nil for those of the system.
	RootCAs *x509.CertPool
}

// Mailer sends mails.
type Mailer struct{ Config }

var _ ports.Mailer = (*Mailer)(nil)

// New returns a Mailer.
func New(c Config) *Mailer {
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	return &Mailer{c}
}

// Send hands a mail to the server. A mail is refused by a permanent reply to its sender, its recipient or
// its content; a failed login is not one.
func (m *Mailer) Send(ctx context.Context, mailed ports.Mail) error {
	message, err := mail.Message(mailed, m.From)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	connection := &connection{server: m.Server, tls: m.tlsConfig(), ctx: ctx}
	defer connection.close()
	client, err := gomail.NewClient(m.Host, m.options(connection)...)
	if err != nil {
		return fmt.Errorf("mail server %s: %w", m.Host, err)
	}
	if err = client.DialWithContext(ctx); err == nil {
		err = client.Send(message)
	}
	if message.IsDelivered() { // whatever was said afterwards
		_ = client.Close()
		return nil
	}
	return m.failure(ctx, err)
}

func (m *Mailer) options(connection *connection) []gomail.Option {
	options := []gomail.Option{gomail.WithPort(m.Port), gomail.WithTimeout(m.Timeout), gomail.WithDialContextFunc(connection.open),
		gomail.WithoutNoop()}
	if m.Security == STARTTLS {
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory), gomail.WithTLSConfig(m.tlsConfig()))
	} else {
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS)) // the connection is encrypted from its beginning, or never
	}
	if m.User != "" {
		options = append(options, gomail.WithSMTPAuthCustom(&login{server: m.Server}))
	}
	return options
}

// addressRegexp finds addresses in the replies of servers.
var addressRegexp = regexp.MustCompile(`[^\s<>"'=:;,()\[\]]+@[^\s<>"',;()]+`)

// failure returns what prevented a mail from being sent, without addresses of customers.
func (m *Mailer) failure(ctx context.Context, err error) error {
	text := err.Error()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded): // the connection was closed then
		text = "the server did not answer in time"
	case ctx.Err() != nil:
		text = ctx.Err().Error()
	}
	text, _, _ = strings.Cut(text, ", affected ") // the recipients and the id
	text = addressRegexp.ReplaceAllString(text, "[address]")
	var failed *gomail.SendError
	if errors.As(err, &failed) && isRefusal(failed) {
		return &ports.MessageRefusedError{Reason: text}
	}
	return fmt.Errorf("mail server %s: %s", m.Host, text)
}

// aboutSettings are the permanent replies that are not about the mail: they ask for a login or for
// encryption (RFC 4954, 6), or do not know a command.
var aboutSettings = []int{500, 502, 503, 530, 534, 535, 538}

// isRefusal reports whether the server will never take the mail.
func isRefusal(failed *gomail.SendError) bool {
	if code := failed.ErrorCode(); code < 500 || code > 599 || slices.Contains(aboutSettings, code) {
		return false
	}
	switch failed.Reason {
	case gomail.ErrSMTPMailFrom, gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		return true
	default:
		return false
	}
}
