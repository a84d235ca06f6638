package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	gosmtp "github.com/wneessen/go-mail/smtp"
)

// maxReplies is the maximum of what a server may send in one dialogue, in bytes.
const maxReplies = 1 << 20

// connection is the connection of one dialogue, which is closed when its context ends.
type connection struct {
	server Server
	tls    *tls.Config
	ctx    context.Context //nolint:containedctx // of the dialogue, which the connection lives as long as
	conn   net.Conn
	stop   func() bool
}

// open connects to the server. The context given is that of the connecting alone.
func (c *connection) open(ctx context.Context, network, _ string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(c.server.Host, strconv.Itoa(c.server.Port)))
	if err != nil {
		return nil, err
	}
	c.conn = conn
	c.stop = context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	if remote, ok := conn.RemoteAddr().(*net.TCPAddr); c.server.Security == NoTLS && (!ok || !remote.IP.IsLoopback()) {
		return nil, fmt.Errorf("%s is not a loopback address, so the connection must be encrypted", conn.RemoteAddr())
	}
	bounded := &boundedConn{Conn: conn, left: maxReplies}
	if c.server.Security != ImplicitTLS {
		return bounded, nil
	}
	encrypted := tls.Client(bounded, c.tls)
	return encrypted, encrypted.HandshakeContext(ctx)
}

func (c *connection) close() {
	if c.conn != nil {
		c.stop()
		_ = c.conn.Close()
	}
}

// boundedConn reads at most so many bytes, and has no deadlines: its end is that of the dialogue.
type boundedConn struct {
	net.Conn
	left int
}

var errTooMuch = errors.New("the server sent too much")

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errTooMuch
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func (*boundedConn) SetDeadline(time.Time) error      { return nil }
func (*boundedConn) SetReadDeadline(time.Time) error  { return nil }
func (*boundedConn) SetWriteDeadline(time.Time) error { return nil }

func (m *Mailer) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: m.Host, MinVersion: tls.VersionTLS12, RootCAs: m.RootCAs}
}

// login logs in by the method that the server offers: PLAIN (RFC 4616) or LOGIN.
type login struct {
	server Server
	gosmtp.Auth
}

func (l *login) Start(info *gosmtp.ServerInfo) (string, []byte, error) {
	unencrypted := l.server.Security == NoTLS
	switch {
	case slices.Contains(info.Auth, "PLAIN"):
		l.Auth = gosmtp.PlainAuth("", l.server.User, l.server.Password, l.server.Host, unencrypted)
	case slices.Contains(info.Auth, "LOGIN"):
		l.Auth = gosmtp.LoginAuth(l.server.User, l.server.Password, l.server.Host, unencrypted)
	default:
		return "", nil, errors.New("the server offers no login by PLAIN or LOGIN")
	}
	return l.Auth.Start(info)
}
