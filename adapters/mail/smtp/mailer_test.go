package smtp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"

	"causeway/ports"
	"causeway/ports/portstest"
)

func TestMailer_Conformance(t *testing.T) {
	t.Parallel()
	// A mailer passes the suite with each kind of encryption and of login.
	cert := newCertificate(t, "localhost")
	for name, test := range map[string]struct {
		security  Security
		mechanism string
	}{
		"implicit TLS and PLAIN": {ImplicitTLS, "PLAIN"}, "STARTTLS and LOGIN": {STARTTLS, "LOGIN"}, "STARTTLS and PLAIN": {STARTTLS, "PLAIN"},
		"implicit TLS and LOGIN": {ImplicitTLS, "LOGIN"}, "no TLS": {NoTLS, ""}, "no TLS and PLAIN": {NoTLS, "PLAIN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &mailServer{t: t, mechanism: test.mechanism}
			mailer := New(server.start(test.security, cert))
			portstest.Mailer(t, mailer, func(t *testing.T, id uuid.UUID) (portstest.ReceivedMail, bool) {
				for _, m := range server.delivered() {
					if !bytes.Contains(m.text, []byte(id.String())) {
						continue
					}
					if m.secure != (test.security != NoTLS) || m.from != "bounces@causeway.test" {
						t.Fatalf("from %s, encrypted: %t", m.from, m.secure)
					}
					got, err := portstest.ReadMail(bytes.NewReader(m.text))
					if err != nil {
						t.Fatalf("%v in\n%s", err, m.text)
					}
					if got.Get("Sender") != "<bounces@causeway.test>" {
						t.Errorf("the sender is %q", got.Get("Sender"))
					}
					return got, true
				}
				return portstest.ReceivedMail{}, false
			})
		})
	}
}

func TestMailer_SendsNothingUnencrypted(t *testing.T) {
	t.Parallel()
	// Without the encryption that the settings ask for, or with a certificate that is not that of the
	// server, neither the password nor the mail is sent. It can be tried again.
	cert, other := newCertificate(t, "localhost"), newCertificate(t, "mail.example.com")
	for name, test := range map[string]struct {
		offered, wanted Security
		cert, trusted   *certificate
	}{
		"no STARTTLS":               {NoTLS, STARTTLS, cert, cert},
		"no TLS":                    {NoTLS, ImplicitTLS, cert, cert},
		"unknown certificate":       {ImplicitTLS, ImplicitTLS, cert, other},
		"unknown after STARTTLS":    {STARTTLS, STARTTLS, cert, other},
		"certificate of other host": {ImplicitTLS, ImplicitTLS, other, other},
		"other host after STARTTLS": {STARTTLS, STARTTLS, other, other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &mailServer{t: t, mechanism: "PLAIN"}
			c := server.start(test.offered, test.cert)
			c.Security, c.RootCAs, c.Timeout = test.wanted, test.trusted.pool, 20*time.Second
			if name == "no TLS" {
				c.Timeout = 500 * time.Millisecond // each side waits for the other
			}

			err := New(c).Send(t.Context(), portstest.NewMail())

			var refused *ports.MessageRefusedError
			if err == nil || errors.As(err, &refused) {
				t.Errorf("%v", err)
			}
			if len(server.delivered()) > 0 || len(server.logins) > 0 {
				t.Errorf("delivered %+v, logins %q", server.delivered(), server.logins)
			}
		})
	}
}

func TestMailer_RepliesDecide(t *testing.T) {
	t.Parallel()
	// A permanent reply to the sender, the recipient or the content refuses the mail, and a temporary one does
	// not; nor does one that is about the settings. What the server says is passed on without addresses.
	cert := newCertificate(t, "localhost")
	const text = "mailbox <ana@example.com> of ana@example.com does not exist"
	for _, step := range []string{"MAIL", "RCPT", "DATA"} {
		for code, refuses := range map[int]bool{550: true, 551: true, 552: true, 554: true, 501: true, 421: false, 450: false, 451: false,
			452: false, 502: false, 530: false, 535: false} {
			server := &mailServer{t: t}
			switch step {
			case "MAIL":
				server.onMail = rejection(code, text)
			case "RCPT":
				server.onRcpt = rejection(code, text)
			case "DATA":
				server.onData = rejection(code, text)
			}

			err := New(server.start(ImplicitTLS, cert)).Send(t.Context(), portstest.NewMail())

			var refused *ports.MessageRefusedError
			if err == nil || errors.As(err, &refused) != refuses || strings.Contains(err.Error(), "ana@") ||
				!strings.Contains(err.Error(), "does not exist") {
				t.Errorf("%d to %s: %v", code, step, err)
			}
		}
	}
}

func TestMailer_WrongPasswordIsNotARefusal(t *testing.T) {
	t.Parallel()
	// A failed login says nothing about the mail: it is tried again when the password is corrected.
	cert := newCertificate(t, "localhost")
	for _, mechanism := range []string{"PLAIN", "LOGIN"} {
		server := &mailServer{t: t, mechanism: mechanism}
		c := server.start(ImplicitTLS, cert)
		c.Password = "wrong"

		err := New(c).Send(t.Context(), portstest.NewMail())

		var refused *ports.MessageRefusedError
		if err == nil || errors.As(err, &refused) || strings.Contains(err.Error(), "wrong") || len(server.delivered()) > 0 ||
			len(server.logins) != 1 {
			t.Errorf("%s: %v, logins %q", mechanism, err, server.logins)
		}
	}

	// So does a server that offers no login, or another kind.
	for _, mechanism := range []string{"", "CRAM-MD5"} {
		server := &mailServer{t: t, mechanism: mechanism}
		c := server.start(ImplicitTLS, cert)
		c.User, c.Password = testUser, testPassword
		var refused *ports.MessageRefusedError
		if err := New(c).Send(t.Context(), portstest.NewMail()); err == nil || errors.As(err, &refused) || len(server.delivered()) > 0 {
			t.Errorf("login by %q: %v", mechanism, err)
		}
	}
}

func TestMailer_AcceptedMailIsSent(t *testing.T) {
	t.Parallel()
	// After the reply to the content nothing matters: a server that then closes the connection has the mail.
	c := serveRaw(t, func(conn net.Conn) {
		answer := func(text, await string) {
			_, _ = io.WriteString(conn, text+"\r\n")
			readUntil(conn, await)
		}
		answer("220 ready", "\r\n")
		answer("250 localhost", "MAIL FROM")
		answer("250 ok", "RCPT TO")
		answer("250 ok", "DATA")
		answer("354 go on", "\r\n.\r\n")
		_, _ = io.WriteString(conn, "250 taken\r\n")
	})

	if err := New(c).Send(t.Context(), portstest.NewMail()); err != nil {
		t.Error(err)
	}
}

func TestMailer_ClosedConnectionsAreTriedAgain(t *testing.T) {
	t.Parallel()
	// A server that closes the connection, at any point before it has taken the mail, is tried again.
	cert := newCertificate(t, "localhost")
	dropped := &mailServer{t: t, onDelivered: func(c *smtp.Conn) { _ = c.Conn().Close() }}
	configs := map[string]Config{
		"in DATA":  dropped.start(STARTTLS, cert),
		"at once":  serveRaw(t, func(net.Conn) {}),
		"greeting": serveRaw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "220 ready\r\n") }),
		"busy":     serveRaw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "554 no service\r\n") }),
		"no SMTP":  serveRaw(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n") }),
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	configs["no server"] = dropped.config(closed.Addr(), NoTLS, cert)
	_ = closed.Close()
	for name, c := range configs {
		err := New(c).Send(t.Context(), portstest.NewMail())
		var refused *ports.MessageRefusedError
		if err == nil || errors.As(err, &refused) || strings.Contains(err.Error(), "ana@") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMailer_SlowServersEnd(t *testing.T) {
	t.Parallel()
	// A dialogue ends at its deadline, whether the server is silent from the beginning, in the middle, or
	// sends a little all the time; and as soon as the caller gives up.
	untilClosed := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	drip := func(conn net.Conn) {
		for err := error(nil); err == nil; _, err = io.WriteString(conn, "220-x\r\n") {
			time.Sleep(5 * time.Millisecond)
		}
	}
	for name, handle := range map[string]func(net.Conn){
		"silent": untilClosed,
		"silent after the greeting": func(conn net.Conn) {
			_, _ = io.WriteString(conn, "220 ready\r\n")
			untilClosed(conn)
		},
		"silent in DATA": func(conn net.Conn) {
			for _, answer := range []string{"220 ready", "250 localhost", "250 ok", "250 ok", "354 go on"} {
				_, _ = io.WriteString(conn, answer+"\r\n")
				readUntil(conn, "\r\n")
			}
			untilClosed(conn)
		},
		"dripping": drip,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serveRaw(t, handle)
			c.Timeout = 200 * time.Millisecond

			err := New(c).Send(t.Context(), portstest.NewMail())

			var refused *ports.MessageRefusedError
			if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), "did not answer in time") {
				t.Errorf("%v", err)
			}

			// The caller gives up when the server has taken the connection.
			connected := make(chan struct{}, 1)
			ctx, cancel := context.WithCancel(t.Context())
			c = serveRaw(t, func(conn net.Conn) {
				connected <- struct{}{}
				handle(conn)
			})
			c.Timeout = time.Hour
			go func() {
				<-connected
				cancel()
			}()
			if err := New(c).Send(ctx, portstest.NewMail()); !strings.Contains(err.Error(), "canceled") {
				t.Errorf("cancelled: %v", err)
			}
		})
	}
}

func TestMailer_TalkativeServerEnds(t *testing.T) {
	t.Parallel()
	// A server that sends without end is given up long before the deadline.
	for name, line := range map[string]string{"lines": "220-" + strings.Repeat("x", 500) + "\r\n", "one line": strings.Repeat("x", 500)} {
		c := serveRaw(t, func(conn net.Conn) {
			for err := error(nil); err == nil; _, err = io.WriteString(conn, line) {
			}
		})
		c.Timeout = time.Hour
		if err := New(c).Send(t.Context(), portstest.NewMail()); err == nil || !strings.Contains(err.Error(), errTooMuch.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
