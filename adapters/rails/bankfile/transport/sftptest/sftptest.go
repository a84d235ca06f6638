// Package sftptest runs the SFTP server of OpenSSH for tests.
package sftptest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// Programs of the Debian packages openssh-server and openssh-sftp-server, which `make test` installs.
const (
	sshd       = "/usr/sbin/sshd"
	sftpServer = "/usr/lib/openssh/sftp-server"
)

// Server is an SFTP server that the user of the test can log in to with PrivateKey. Paths that are not absolute begin in
// the home folder of the user.
type Server struct {
	Address    string
	User       string
	PrivateKey []byte
	// HostKey is the public key of the server, in the form of known_hosts without a host.
	HostKey     string
	Fingerprint string

	config string
	mu     sync.Mutex
	conns  map[net.Conn]*exec.Cmd
	log    lockedBuffer
}

// Start runs a server until the test ends. It starts one sshd for each connection, so that no port has to be guessed.
// Options are further lines of sshd_config.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	for _, program := range []string{sshd, sftpServer} {
		if _, err := os.Stat(program); err != nil {
			t.Fatalf("%v: install the packages openssh-server and openssh-sftp-server, or run make needs-readers", err)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" { // sshd of root insists on the folder, which a start script makes otherwise
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{User: me.Username, conns: map[net.Conn]*exec.Cmd{}}
	dir := t.TempDir()
	hostKey, hostPEM := newKey(t)
	userKey, userPEM := newKey(t)
	s.PrivateKey, s.HostKey, s.Fingerprint = userPEM, string(bytes.TrimSpace(ssh.MarshalAuthorizedKey(hostKey))),
		ssh.FingerprintSHA256(hostKey)
	s.config = filepath.Join(dir, "sshd_config")
	write(t, filepath.Join(dir, "host_key"), hostPEM)
	write(t, filepath.Join(dir, "authorized_keys"), ssh.MarshalAuthorizedKey(userKey))
	config := fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\nSubsystem sftp "+
		"%s\n",
		filepath.Join(dir, "host_key"), filepath.Join(dir, "authorized_keys"), sftpServer)
	for _, option := range options {
		config += option + "\n"
	}
	write(t, s.config, []byte(config))

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = listener.Addr().String()
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		s.accept(listener)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-accepting
		s.Disconnect()
		if t.Failed() {
			t.Logf("sshd:\n%s", s.log.String())
		}
	})
	return s
}

func (s *Server) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		file, err := conn.(*net.TCPConn).File()
		if err != nil {
			_ = conn.Close()
			continue
		}
		command := exec.Command(sshd, "-i", "-e", "-f", s.config)
		command.Stdin, command.Stdout, command.Stderr = file, file, &s.log
		err = command.Start()
		_ = file.Close()
		if err != nil {
			_ = conn.Close()
			continue
		}
		s.mu.Lock()
		s.conns[conn] = command
		s.mu.Unlock()
	}
}

// Disconnect cuts all connections and waits until their servers have ended.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn, command := range s.conns {
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.(*net.TCPConn).CloseRead()
		_ = conn.Close()
		_ = command.Process.Kill()
		_ = command.Wait()
	}
	clear(s.conns)
}

// Connections returns how many connections have been opened since the last Disconnect.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func newKey(t testing.TB) (ssh.PublicKey, []byte) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return key, pem.EncodeToMemory(block)
}

func write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
