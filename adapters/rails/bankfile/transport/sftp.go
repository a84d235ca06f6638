package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// SFTPConfig says how to reach an SFTP server.
type SFTPConfig struct {
	// Address is host:port.
	Address string
	User    string
	// Base is the folder in which paths begin; empty for the one after the login.
	Base string
	// HostKeys are the pinned keys of the server, one per line: fingerprints or keys.
	HostKeys string
	// Login returns the password, the private key (PEM or OpenSSH) and its passphrase, each empty if there is none. It is
	// called for every connection, so that a changed secret needs no restart.
	Login func(context.Context) (Login, error)
	// Timeout is the longest silence of the server: 30 s if zero.
	Timeout time.Duration
}

// Login is what a user proves itself with.
type Login struct{ Password, PrivateKey, Passphrase []byte }

// SFTP is the transport for an SFTP server. It holds at most one connection, which it opens when it is first used and
// again after an error.
type SFTP struct {
	config SFTPConfig
	keys   hostKeys

	mu     sync.Mutex // held during each call
	conn   *deadlineConn
	ssh    *ssh.Client
	client *sftp.Client // nil without a connection
	closed bool
}

var _ Transport = (*SFTP)(nil)

// NewSFTP returns the transport, without connecting.
func NewSFTP(c SFTPConfig) (*SFTP, error) {
	keys, err := parseHostKeys(c.HostKeys)
	if err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	return &SFTP{config: c, keys: keys}, nil
}

// Close implements Transport.
func (s *SFTP) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.disconnect()
	return nil
}

// disconnect closes the connection, if there is one. What closing says matters to nobody: each call knows its own result.
func (s *SFTP) disconnect() {
	if s.client == nil {
		return
	}
	_ = s.conn.Conn.Close()
	_ = s.client.Close()
	_ = s.ssh.Close()
	s.conn, s.ssh, s.client = nil, nil, nil
}

// deadlineConn is a connection that fails after a silence, while it is used, and after a number of bytes.
type deadlineConn struct {
	net.Conn
	timeout time.Duration
	done    <-chan struct{} // of the context of the call
	left    atomic.Int64    // bytes that the call may still read
}

// maxListBytes bounds what a server can answer with a list, about 200,000 files.
const maxListBytes = 32 << 20

// Read implements net.Conn.
func (c *deadlineConn) Read(data []byte) (int, error) {
	n, err := c.Conn.Read(data)
	if c.left.Add(-int64(n)) < 0 {
		return n, ErrTooLarge
	}
	return n, err
}

// extend moves the deadline of the call that runs.
func (c *deadlineConn) extend() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return c.SetDeadline(time.Now().Add(c.timeout))
	}
}

// call runs a call with a connection, and returns errors of the network as text.
func (s *SFTP) call(ctx context.Context, do func() error) error {
	return withoutNetwork(s.connected(ctx, do))
}

var errClosed = errors.New("the connection to the server is closed")

// withoutNetwork returns an error of the network with its text, and not the cause itself: in the log that is taken for an
// outage of the database.
func withoutNetwork(err error) error {
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || isAnswer(err) ||
		!errors.As(err, &network) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return errors.New(err.Error())
}

// connected runs a call with a connection. The connection is closed after an error that is not an answer of the server.
func (s *SFTP) connected(ctx context.Context, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if s.client == nil {
		if err := s.connect(ctx); err != nil {
			return fmt.Errorf("connect to %s: %w", s.config.Address, err)
		}
	}
	conn := s.conn
	conn.done = ctx.Done()
	conn.left.Store(math.MaxInt64)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := conn.extend()
	if err == nil {
		err = do()
	}
	if stop() && err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil && !isAnswer(err) || ctx.Err() != nil {
		s.disconnect()
		return errors.Join(err, ctx.Err())
	}
	return err
}

// isAnswer reports whether an error is what the server has answered, so that the connection still works.
func isAnswer(err error) bool {
	var status *sftp.StatusError
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) || errors.As(err, &status)
}

func (s *SFTP) connect(ctx context.Context) error {
	login, err := s.config.Login(ctx)
	if err != nil {
		return err
	}
	methods, err := login.methods()
	if err != nil {
		return err
	}
	var shown []string
	for _, algorithms := range s.keys.attempts() {
		err := s.connectWith(ctx, methods, algorithms)
		var other *hostKeyError
		var none *ssh.AlgorithmNegotiationError
		switch {
		case errors.As(err, &other):
			shown = append(shown, other.shown...)
		case errors.As(err, &none):
			// the server has no key of this kind
		default:
			return err
		}
	}
	if shown == nil {
		return errors.New("the server has no host key of a kind that is pinned")
	}
	return &hostKeyError{shown}
}

func (s *SFTP) connectWith(ctx context.Context, methods []ssh.AuthMethod, algorithms []string) error {
	dialer := net.Dialer{Timeout: s.config.Timeout}
	tcp, err := dialer.DialContext(ctx, "tcp", s.config.Address)
	if err != nil {
		return err
	}
	conn := &deadlineConn{Conn: tcp, timeout: s.config.Timeout, done: ctx.Done()}
	conn.left.Store(maxListBytes)
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.extend(); err != nil {
		return errors.Join(err, tcp.Close())
	}
	handshake, channels, requests, err := ssh.NewClientConn(conn, s.config.Address, &ssh.ClientConfig{
		User: s.config.User, Auth: methods, HostKeyCallback: s.keys.check, HostKeyAlgorithms: algorithms, Timeout: s.config.Timeout})
	if err != nil {
		return errors.Join(err, closeQuietly(tcp))
	}
	session := ssh.NewClient(handshake, channels, requests)
	client, err := sftp.NewClient(session, sftp.UseConcurrentWrites(true))
	if err != nil {
		return errors.Join(fmt.Errorf("open the SFTP subsystem: %w", err), closeQuietly(session))
	}
	s.conn, s.ssh, s.client = conn, session, client
	return nil
}

// closeQuietly closes what has failed already: that it is closed is no news.
func closeQuietly(c io.Closer) error {
	if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// methods returns the ways to log in. A bank may ask for a key and a password.
func (l Login) methods() ([]ssh.AuthMethod, error) {
	var methods []ssh.AuthMethod
	if len(l.PrivateKey) > 0 {
		signer, err := parsePrivateKey(l.PrivateKey, l.Passphrase)
		if err != nil {
			return nil, errors.New("the private key cannot be read: it is not one of OpenSSH or PEM, or its passphrase is wrong or missing")
		}
		methods = append(methods, ssh.PublicKeys(signer))
	}
	if len(l.Password) > 0 {
		password := string(l.Password)
		methods = append(methods, ssh.Password(password), ssh.KeyboardInteractive(
			func(_, _ string, questions []string, echos []bool) ([]string, error) {
				answers := make([]string, len(questions))
				for i := range questions {
					if !echos[i] { // a question that is shown as it is typed is not for the password
						answers[i] = password
					}
				}
				return answers, nil
			}))
	}
	if methods == nil {
		return nil, errors.New("neither a password nor a private key is set")
	}
	return methods, nil
}

func parsePrivateKey(key, passphrase []byte) (ssh.Signer, error) {
	if len(passphrase) > 0 {
		return ssh.ParsePrivateKeyWithPassphrase(key, passphrase)
	}
	return ssh.ParsePrivateKey(key)
}

// List implements Transport.
func (s *SFTP) List(ctx context.Context, folder string, limit int) (files []File, err error) {
	err = s.call(ctx, func() error {
		s.conn.left.Store(maxListBytes)
		found, err := s.client.ReadDirContext(ctx, s.at(folder))
		for _, info := range found {
			if info.Mode().IsRegular() {
				files = append(files, fileOf(info))
			}
		}
		return err
	})
	return firstByName(files, limit), err
}

// Stat implements Transport.
func (s *SFTP) Stat(ctx context.Context, name string) (file File, err error) {
	err = s.call(ctx, func() error {
		info, err := s.client.Lstat(s.at(name))
		if err == nil {
			file = fileOf(info)
		}
		return err
	})
	return file, err
}

// Read implements Transport.
func (s *SFTP) Read(ctx context.Context, name string, to io.Writer, maxBytes int64) error {
	return s.ReadFrom(ctx, name, 0, to, maxBytes)
}

// ReadFrom implements Transport.
func (s *SFTP) ReadFrom(ctx context.Context, name string, offset int64, to io.Writer, maxBytes int64) error {
	return s.call(ctx, func() error {
		file, err := s.client.Open(s.at(name))
		if err != nil {
			return err
		}
		if _, err = file.Seek(offset, io.SeekStart); err == nil {
			_, err = file.WriteTo(&maxBytesWriter{to, maxBytes, s.conn.extend})
		}
		return errors.Join(err, file.Close())
	})
}

// concurrentWrites is how many writes of 32 KiB are on their way.
const concurrentWrites = 32

// Create implements Transport.
func (s *SFTP) Create(ctx context.Context, name string, content io.Reader) (size int64, err error) {
	err = s.call(ctx, func() error {
		file, err := s.client.OpenFile(s.at(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if err != nil {
			return s.existsInstead(name, err)
		}
		size, err = file.ReadFromWithConcurrency(progressReader{content, s.conn.extend}, concurrentWrites)
		if err == nil {
			if _, can := s.client.HasExtension("fsync@openssh.com"); can {
				err = file.Sync()
			}
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		stored, err := s.client.Lstat(s.at(name))
		if err == nil && stored.Size() != size {
			err = fmt.Errorf("the server has stored %d of %d bytes of %s", stored.Size(), size, name)
		}
		return err
	})
	return size, err
}

// Rename implements Transport. The rename of OpenSSH's protocol extension is one step on the server but replaces files;
// the standard one does not replace, but OpenSSH does it in two steps, between which a file has both names.
func (s *SFTP) Rename(ctx context.Context, from, to string) error {
	return s.call(ctx, func() error {
		if _, err := s.client.Lstat(s.at(to)); err == nil {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, can := s.client.HasExtension("posix-rename@openssh.com"); can {
			return s.client.PosixRename(s.at(from), s.at(to))
		}
		return s.existsInstead(to, s.client.Rename(s.at(from), s.at(to)))
	})
}

// existsInstead returns fs.ErrExist in place of the general failure that servers answer if a file exists.
func (s *SFTP) existsInstead(name string, err error) error {
	var status *sftp.StatusError
	if !errors.As(err, &status) {
		return err
	}
	if _, missing := s.client.Lstat(s.at(name)); missing == nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	return err
}

// Remove implements Transport.
func (s *SFTP) Remove(ctx context.Context, name string) error {
	return s.call(ctx, func() error { return s.client.Remove(s.at(name)) })
}

// at returns the path on the server.
func (s *SFTP) at(name string) string {
	if s.config.Base == "" && name == "" {
		return "."
	}
	return path.Join(s.config.Base, name)
}
