package smtp

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// delivered is a mail that the test server has taken.
type delivered struct {
	from, to string
	text     []byte
	secure   bool
}

// mailServer is a mail server (emersion/go-smtp) that takes mails, unless a test says how it fails.
type mailServer struct {
	t *testing.T
	// mechanism of the login; empty: none is needed.
	mechanism string
	// onMail, onRcpt and onData return the reply; nil to take the mail.
	onMail, onRcpt, onData func() error
	// onDelivered is called after the mail was taken, before the reply.
	onDelivered func(*smtp.Conn)

	mu     sync.Mutex
	mails  []delivered
	logins []string
}

const testUser, testPassword = "ana@example.com", "correct horse"

// start starts the server on a loopback address, and returns its settings. cert is that of the server.
func (s *mailServer) start(security Security, cert *certificate) Config {
	s.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	server := smtp.NewServer(s)
	server.Domain, server.AllowInsecureAuth, server.EnableSMTPUTF8 = "localhost", true, true
	server.ErrorLog = log.New(io.Discard, "", 0)
	tlsConfig := &tls.Config{Certificates: []tls.Certificate{cert.Certificate}, MinVersion: tls.VersionTLS12}
	served := listener
	switch security {
	case ImplicitTLS:
		served = tls.NewListener(listener, tlsConfig)
	case STARTTLS:
		server.TLSConfig = tlsConfig
	case NoTLS:
	}
	go func() { _ = server.Serve(served) }()
	s.t.Cleanup(func() { _ = server.Close() })
	return s.config(listener.Addr(), security, cert)
}

func (s *mailServer) config(address net.Addr, security Security, cert *certificate) Config {
	c := Config{Server: Server{Host: "localhost", Port: address.(*net.TCPAddr).Port, Security: security}, From: "bounces@causeway.test",
		RootCAs: cert.pool}
	if s.mechanism != "" {
		c.User, c.Password = testUser, testPassword
	}
	return c
}

func (s *mailServer) delivered() []delivered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

func (s *mailServer) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secure := c.TLSConnectionState()
	return &mailSession{mailServer: s, conn: c, mail: delivered{secure: secure}}, nil
}

type mailSession struct {
	*mailServer
	conn     *smtp.Conn
	mail     delivered
	loggedIn bool
}

var _ smtp.AuthSession = (*mailSession)(nil)

func (s *mailSession) AuthMechanisms() []string {
	if s.mechanism == "" {
		return nil
	}
	return []string{s.mechanism}
}

func (s *mailSession) Auth(mechanism string) (sasl.Server, error) {
	check := func(user, password string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.logins = append(s.logins, user)
		if user != testUser || password != testPassword {
			return smtp.ErrAuthFailed
		}
		s.loggedIn = true
		return nil
	}
	if mechanism == "LOGIN" {
		return &loginServer{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
}

// loginServer is the server's side of LOGIN.
type loginServer struct {
	check func(user, password string) error
	step  int
	user  string
}

func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	l.step++
	switch {
	case l.step == 1 && len(response) == 0:
		return []byte("Username:"), false, nil
	case l.user == "":
		l.user = string(response)
		return []byte("Password:"), false, nil
	default:
		return nil, true, l.check(l.user, string(response))
	}
}

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.mechanism != "" && !s.loggedIn {
		return smtp.ErrAuthRequired
	}
	s.mail.from = from
	return reply(s.onMail)
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.to = to
	return reply(s.onRcpt)
}

func (s *mailSession) Data(r io.Reader) error {
	if err := reply(s.onData); err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.text = text
	s.mu.Lock()
	s.mails = append(s.mails, s.mail)
	s.mu.Unlock()
	if s.onDelivered != nil {
		s.onDelivered(s.conn)
	}
	return nil
}

func (*mailSession) Reset()        {}
func (*mailSession) Logout() error { return nil }

func reply(fn func() error) error {
	if fn == nil {
		return nil
	}
	return fn()
}

// rejection returns a reply of the server.
func rejection(code int, text string) func() error {
	return func() error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
	}
}

// certificate is one that signs itself.
type certificate struct {
	tls.Certificate
	pool *x509.CertPool
}

func newCertificate(t *testing.T, host string) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &certificate{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool}
}

// serveRaw starts a server that handles each connection with fn, in the clear, and returns its settings.
func serveRaw(t *testing.T, fn func(net.Conn)) Config {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			running.Go(func() {
				defer conn.Close()
				fn(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return Config{Server: Server{Host: "localhost", Port: listener.Addr().(*net.TCPAddr).Port, Security: NoTLS}, From: "bounces@causeway.test"}
}

// readUntil reads from a connection until it has a text, or ends.
func readUntil(conn net.Conn, text string) {
	var read []byte
	buffer := make([]byte, 1024)
	for !bytes.Contains(read, []byte(text)) {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		read = append(read, buffer[:n]...)
	}
}
