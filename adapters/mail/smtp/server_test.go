package smtp

import (
	"strings"
	"testing"
)

func TestParseServer(t *testing.T) {
	t.Parallel()
	// The scheme says how the connection is encrypted. It is never plain but to this machine, and only if
	// the URL says so.
	for text, want := range map[string]Server{
		"smtps://ana:secret@mail.example.com":       {Host: "mail.example.com", Port: 465, User: "ana", Password: "secret"},
		"smtp://ana%40example.com:p%2Fw@mail:2525/": {Host: "mail", Port: 2525, Security: STARTTLS, User: "ana@example.com", Password: "p/w"},
		"smtp://mail.example.com":                   {Host: "mail.example.com", Port: 587, Security: STARTTLS},
		"smtps://[2001:db8::1]:1465":                {Host: "2001:db8::1", Port: 1465},
		"smtp://localhost:25?tls=none":              {Host: "localhost", Port: 25, Security: NoTLS},
		"smtp://127.0.0.2:25?tls=none":              {Host: "127.0.0.2", Port: 25, Security: NoTLS},
		"smtp://a:b@[::1]?tls=none":                 {Host: "::1", Port: 587, Security: NoTLS, User: "a", Password: "b"},
	} {
		if got, err := ParseServer(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "mail.example.com", "mail.example.com:587", "https://mail.example.com", "smtps://", "smtps://:465",
		"smtp://mail.example.com?tls=none", "smtp://10.0.0.1?tls=none",
		"smtps://localhost?tls=none", "smtp://localhost?tls=no", "smtp://localhost?tls=none&a=b", "smtp://localhost?tls=none&tls=none2",
		"smtp://mail.example.com/path", "smtp://mail.example.com#x",
		"smtps://ana@mail.example.com", "smtps://:secret@mail.example.com", "smtps://mail.example.com:0", "smtps://mail.example.com:70000",
		"smtps://ana:secret@mail.example.com:x", "smtp:mail", "smtps://ana:sec%zzret@mail",
	} {
		got, err := ParseServer(text)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
