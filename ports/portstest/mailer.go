package portstest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/ports"
)

// ReceivedMail is an internet message, as a mailbox reads it.
type ReceivedMail struct {
	mail.Header
	Text, HTML string
}

// ReadMail reads an internet message with a plain text and HTML.
func ReadMail(r io.Reader) (ReceivedMail, error) {
	message, err := mail.ReadMessage(r)
	if err != nil {
		return ReceivedMail{}, err
	}
	received := ReceivedMail{Header: message.Header}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return received, fmt.Errorf("content type %s, %w", kind, err)
	}
	parts := multipart.NewReader(message.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return received, nil
		}
		if err != nil {
			return received, err
		}
		var body io.Reader = part
		switch part.Header.Get("Content-Transfer-Encoding") {
		case "quoted-printable":
			body = quotedprintable.NewReader(part)
		case "base64":
			body = base64.NewDecoder(base64.StdEncoding, part)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return received, err
		}
		into := map[string]*string{"text/plain; charset=utf-8": &received.Text,
			"text/html; charset=utf-8": &received.HTML}[strings.ToLower(part.Header.Get("Content-Type"))]
		if into == nil {
			return received, fmt.Errorf("a part has the type %s", part.Header.Get("Content-Type"))
		}
		*into = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

// address returns the one address in a header.
func (m ReceivedMail) address(t *testing.T, header string) mail.Address {
	t.Helper()
	list, err := m.AddressList(header)
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %q, %v", header, m.Header[header], err)
	}
	return *list[0]
}

// NewMail returns a mail that any mailer sends.
func NewMail() ports.Mail {
	return ports.Mail{
		ID: uuid.Must(uuid.NewV7()), FromAddress: "wallet@acme.test", FromName: "Acme", ReplyTo: "help@acme.test", To: "ana@example.com",
		Subject: "123456 is your code for Acme", Text: "123456 is your code for Acme\n", HTML: "<p>123456</p>\n",
	}
}

// Mailer tests a mailer. received returns the mail with an id that was delivered last, and false if none
// was.
func Mailer(t *testing.T, mailer ports.Mailer, received func(t *testing.T, id uuid.UUID) (ReceivedMail, bool)) {
	t.Helper()
	send := func(t *testing.T, m ports.Mail) ReceivedMail {
		t.Helper()
		if err := mailer.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got, ok := received(t, m.ID)
		if !ok {
			t.Fatal("the mail was not delivered")
		}
		return got
	}
	t.Run("a mail arrives as it was sent", func(t *testing.T) {
		// With its sender, subject and texts. The Message-ID and the date are those of its id.
		m := NewMail()

		got := send(t, m)

		from, to, replyTo := got.address(t, "From"), got.address(t, "To"), got.address(t, "Reply-To")
		if from != (mail.Address{Name: "Acme", Address: "wallet@acme.test"}) || to.Address != m.To || replyTo.Address != m.ReplyTo ||
			decodeHeader(t, got.Get("Subject")) != m.Subject ||
			got.Text != m.Text || got.HTML != m.HTML {
			t.Errorf("received %+v", got)
		}
		seconds, nanoseconds := m.ID.Time().UnixTime()
		date, err := got.Date()
		if err != nil || !date.Equal(time.Unix(seconds, nanoseconds).Truncate(time.Second)) || got.Get("Message-Id") != "<"+m.ID.String()+
			"@acme.test>" || got.Get("Auto-Submitted") != "auto-generated" {
			t.Errorf("received %v, %v", got.Header, err)
		}
	})
	t.Run("a repeated mail is the same", func(t *testing.T) {
		m := NewMail()
		m.ReplyTo = ""

		first, second := send(t, m), send(t, m)

		if first.Get("Message-Id") != second.Get("Message-Id") || first.Get("Date") != second.Get("Date") || first.Get("Reply-To") != "" {
			t.Errorf("received %v, then %v", first.Header, second.Header)
		}
	})
	t.Run("texts in any language", func(t *testing.T) {
		// Names, subjects and texts are shown as they were written, however long a line is, and with lines
		// that mean something to mail servers.
		m := NewMail()
		m.FromName, m.Subject = `Müller "&" Söhne, 株式会社`, "Ваш код — "+strings.Repeat("é", 300)
		m.Text = ".\n..\nFrom me\n" + strings.Repeat("long line ", 500) + "é\n\n.\n"
		m.HTML = "<p>" + strings.Repeat("日本", 1000) + "</p>\n"

		got := send(t, m)

		if got.address(t, "From").Name != m.FromName || decodeHeader(t, got.Get("Subject")) != m.Subject || got.Text != m.Text ||
			got.HTML != m.HTML {
			t.Errorf("received %+v", got)
		}
	})
	t.Run("nothing in a mail adds a header", func(t *testing.T) {
		// A line break in a name or a subject is a space.
		for _, lineBreak := range []string{"\r\n", "\n", "\r", "\u2028", "\x00\n"} {
			m := NewMail()
			m.FromName, m.Subject = "Acme"+lineBreak+"Bcc: eve@evil.test", "Code"+lineBreak+"Bcc: eve@evil.test"+lineBreak+lineBreak+"body"

			got := send(t, m)

			if len(got.Header["Bcc"]) > 0 || len(got.Header["From"]) != 1 || got.address(t, "From").Address != m.FromAddress || got.Text != m.Text ||
				strings.Join(strings.Fields(decodeHeader(t, got.Get("Subject"))), " ") != "Code Bcc: eve@evil.test body" {
				t.Errorf("%q: received %+v", lineBreak, got)
			}
		}
	})
	t.Run("international domains", func(t *testing.T) {
		// A domain is written in ASCII (IDNA), as mail servers know it.
		m := NewMail()
		m.To = "ana@bücher.example"
		if got := send(t, m).address(t, "To").Address; got != "ana@xn--bcher-kva.example" {
			t.Errorf("sent to %s", got)
		}
	})
	t.Run("invalid addresses are refused", func(t *testing.T) {
		// No mail is sent, and the reason does not contain the address.
		for _, address := range []string{"", "ana", "@example.com", "ana@", "ana@example.com, eve@evil.test", "Ana <ana@example.com>",
			"ana@example.com\r\nBcc: eve@evil.test", "ana@example.com>", "ana @example.com", "ana@exa mple.com", "\"a\"\n@example.com"} {
			for name, edit := range map[string]func(*ports.Mail){"to": func(m *ports.Mail) { m.To = address },
				"from": func(m *ports.Mail) { m.FromAddress = address }, "reply-to": func(m *ports.Mail) { m.ReplyTo = address }} {
				m := NewMail()
				edit(&m)
				if name == "reply-to" && address == "" {
					continue
				}
				var refused *ports.MessageRefusedError
				if err := mailer.Send(t.Context(), m); !errors.As(err, &refused) || address != "" && strings.Contains(err.Error(), address) {
					t.Errorf("%s %q: %v", name, address, err)
				}
				if got, ok := received(t, m.ID); ok {
					t.Errorf("%s %q: received %+v", name, address, got)
				}
			}
		}
	})
	t.Run("a cancelled call sends nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m := NewMail()

		err := mailer.Send(ctx, m)

		var refused *ports.MessageRefusedError
		if err == nil || errors.As(err, &refused) {
			t.Errorf("%v; want an error after which it can be tried again", err)
		}
		if _, ok := received(t, m.ID); ok {
			t.Error("the mail was delivered")
		}
	})
	t.Run("mails at the same time", func(t *testing.T) {
		const n = 8
		mails := make([]ports.Mail, n)
		errs := make(chan error, n)
		for i := range mails {
			mails[i] = NewMail()
			go func() { errs <- mailer.Send(t.Context(), mails[i]) }()
		}
		for range mails {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if slices.ContainsFunc(mails, func(m ports.Mail) bool { _, ok := received(t, m.ID); return !ok }) {
			t.Error("a mail was not delivered")
		}
	})
}

func decodeHeader(t *testing.T, text string) string {
	t.Helper()
	decoded, err := new(mime.WordDecoder).DecodeHeader(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}
