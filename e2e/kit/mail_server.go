package kit

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"slices"
	"sync"

	"github.com/emersion/go-smtp"

	"causeway/ports/portstest"
)

// MailServer is a mail server on a loopback address that takes every mail, in the clear.
type MailServer struct {
	server  *smtp.Server
	address net.Addr

	mu      sync.Mutex
	mails   []Mail
	refused map[string]bool
	waiting int
	resumed chan struct{} // closed while the server answers
}

// Mail is a mail as it was received.
type Mail struct {
	Recipient string // of the envelope
	portstest.ReceivedMail
}

// NewMailServer starts a mail server.
func NewMailServer(ctx context.Context) (*MailServer, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &MailServer{address: listener.Addr(), refused: map[string]bool{}, resumed: make(chan struct{})}
	close(s.resumed)
	s.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{MailServer: s}, nil }))
	s.server.Domain, s.server.ErrorLog = "localhost", log.New(io.Discard, "", 0)
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// URL is the value of CAUSEWAY_SMTP_URL.
func (s *MailServer) URL() string { return "smtp://" + s.address.String() + "?tls=none" }

// Close ends the server and its connections.
func (s *MailServer) Close() {
	s.Resume()
	_ = s.server.Close()
}

// Pause lets the server take connections and senders, and not answer to recipients until Resume.
func (s *MailServer) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumed = make(chan struct{})
}

// Resume ends a pause. What waited is answered, if its sender is still there.
func (s *MailServer) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.resumed:
	default:
		close(s.resumed)
	}
}

// Waiting is how many mails wait for the end of a pause.
func (s *MailServer) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting
}

// Refuse refuses further mails to an address for good.
func (s *MailServer) Refuse(recipient string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[recipient] = true
}

// Mails returns the mails to an address, in the order in which they were received.
func (s *MailServer) Mails(recipient string) []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.mails), func(m Mail) bool { return m.Recipient != recipient })
}

// mailSession is a dialogue with one client.
type mailSession struct {
	*MailServer
	recipient string
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	resumed := s.resumed
	s.waiting++
	s.mu.Unlock()
	<-resumed
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	if s.refused[to] {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "<" + to + ">: no such mailbox"}
	}
	s.recipient = to
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	received, err := portstest.ReadMail(bytes.NewReader(text))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, Mail{s.recipient, received})
	return nil
}

func (*mailSession) Reset()        {}
func (*mailSession) Logout() error { return nil }
