package mail_test

import (
	"bytes"
	"errors"
	"maps"
	"mime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/adapters/mail"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestMessage_HasItsHeadersOnly(t *testing.T) {
	t.Parallel()
	// Whatever a name, a subject, an address or a text contains, the message has the same headers and two
	// parts, lines of a length that mail servers take, and the texts that were given. An address is refused
	// or arrives as it is.
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-zA-Zé\r\n\t:<>@,;"=?. -]|=\?utf-8\?q\?|--|\r\nBcc: |\n\n){0,40}`))
	address := rapid.OneOf(rapid.Just("ana@example.com"), rapid.StringMatching(`[a-zé"(.+\r\n<]{1,10}@[a-zé.\r\n>,]{1,10}`))
	rapid.Check(t, func(t *rapid.T) {
		m := portstest.NewMail()
		m.FromName, m.Subject = text.Draw(t, "name"), text.Draw(t, "subject")
		m.FromAddress, m.To, m.ReplyTo = address.Draw(t, "from"), address.Draw(t, "to"), address.Draw(t, "reply to")
		m.Text, m.HTML = strings.ReplaceAll(text.Draw(t, "text"), "\r", "")+"\n",
			strings.Repeat(strings.ReplaceAll(text.Draw(t, "html"), "\r", ""), 50)+"\n"

		message, err := mail.Message(m, "wallet@example.com")

		var refused *ports.MessageRefusedError
		if errors.As(err, &refused) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var written bytes.Buffer
		if _, err := message.WriteTo(&written); err != nil {
			t.Fatal(err)
		}
		got, err := portstest.ReadMail(bytes.NewReader(written.Bytes()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, written.Bytes())
		}
		want := []string{"Auto-Submitted", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Reply-To", "Sender", "Subject", "To"}
		if headers := slices.Sorted(maps.Keys(got.Header)); !slices.Equal(headers, want) {
			t.Fatalf("headers %q in\n%s", headers, written.Bytes())
		}
		for name, values := range got.Header {
			if len(values) != 1 {
				t.Fatalf("%d headers %s in\n%s", len(values), name, written.Bytes())
			}
		}
		for header, sent := range map[string]string{"From": m.FromAddress, "To": m.To, "Reply-To": m.ReplyTo} {
			list, err := got.AddressList(header)
			local, _, _ := strings.Cut(sent, "@")
			if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Address, local+"@") {
				t.Fatalf("%s of %q: %v, %v", header, sent, list, err)
			}
		}
		if _, err := new(mime.WordDecoder).DecodeHeader(got.Get("Subject")); err != nil || got.Text != m.Text || got.HTML != m.HTML {
			t.Fatalf("subject %q, %v, text %q, HTML %q", got.Get("Subject"), err, got.Text, got.HTML)
		}
		for line := range bytes.Lines(written.Bytes()) {
			if len(line) > 1000 || !bytes.HasSuffix(line, []byte("\r\n")) {
				t.Fatalf("a line has %d bytes: %q", len(line), line)
			}
		}
	})
}
