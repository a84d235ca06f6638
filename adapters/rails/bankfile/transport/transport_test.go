package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/adapters/rails/bankfile/transport/sftptest"
)

// newSFTP returns the transport for a folder on a real server.
func newSFTP(t *testing.T, s *sftptest.Server, base string, change ...func(*transport.SFTPConfig)) *transport.SFTP {
	t.Helper()
	config := transport.SFTPConfig{Address: s.Address, User: s.User, Base: base, HostKeys: s.Fingerprint,
		Login: func(context.Context) (transport.Login, error) { return transport.Login{PrivateKey: s.PrivateKey}, nil }}
	for _, c := range change {
		c(&config)
	}
	client, err := transport.NewSFTP(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// each runs a test with both transports, on a folder that the test can look into.
func each(t *testing.T, test func(t *testing.T, tr transport.Transport, dir string)) {
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		folder, err := transport.OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = folder.Close() })
		test(t, folder, dir)
	})
	t.Run("sftp", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		test(t, newSFTP(t, sftptest.Start(t), dir), dir)
	})
}

func TestTransport_WritesAndReadsFiles(t *testing.T) {
	t.Parallel()
	// A file is read as it was written, also one of several writes and from a place in it, and is listed with its size; folders are not
	// listed.
	each(t, func(t *testing.T, tr transport.Transport, dir string) {
		content := bytes.Repeat([]byte("0123456789"), 300_000)
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "out"), 0o755), os.Mkdir(filepath.Join(dir, "out", "sub"), 0o755)); err != nil {
			t.Fatal(err)
		}

		size, err := tr.Create(t.Context(), "out/b.xml", bytes.NewReader(content))

		if err != nil || size != int64(len(content)) {
			t.Fatalf("created %d bytes, %v", size, err)
		}
		var read bytes.Buffer
		if err := tr.Read(t.Context(), "out/b.xml", &read, size); err != nil || !bytes.Equal(read.Bytes(), content) {
			t.Fatalf("read %d bytes, %v", read.Len(), err)
		}
		read.Reset()
		if err := tr.ReadFrom(t.Context(), "out/b.xml", 1_234_567, &read, size-1_234_567); err != nil ||
			!bytes.Equal(read.Bytes(), content[1_234_567:]) {
			t.Fatalf("read %d bytes of the rest, %v", read.Len(), err)
		}
		if err := tr.ReadFrom(t.Context(), "out/b.xml", size-9, io.Discard, 8); !errors.Is(err, transport.ErrTooLarge) {
			t.Fatalf("more than was asked for: %v", err)
		}
		if _, err := tr.Create(t.Context(), "out/a.xml", strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
		files, err := tr.List(t.Context(), "out", 10)
		if err != nil || len(files) != 2 || files[0].Name != "a.xml" || files[1].Name != "b.xml" || files[1].Size != size ||
			time.Since(files[1].ModifiedAt) > time.Hour {
			t.Fatalf("%+v, %v", files, err)
		}
		if first, err := tr.List(t.Context(), "out", 1); err != nil || len(first) != 1 || first[0].Name != "a.xml" {
			t.Fatalf("%+v, %v", first, err)
		}
		if one, err := tr.Stat(t.Context(), "out/b.xml"); err != nil || one != files[1] {
			t.Fatalf("%+v, %v", one, err)
		}
		if err := tr.Remove(t.Context(), "out/b.xml"); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Stat(t.Context(), "out/b.xml"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	})
}

func TestTransport_NeverReplacesAFile(t *testing.T) {
	t.Parallel()
	// Neither a new file nor a renamed one replaces another, and a file can be renamed once.
	each(t, func(t *testing.T, tr transport.Transport, dir string) {
		for _, name := range []string{"taken", "mine"} {
			if _, err := tr.Create(t.Context(), name, strings.NewReader(name)); err != nil {
				t.Fatal(err)
			}
		}

		if _, err := tr.Create(t.Context(), "taken", strings.NewReader("x")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("created again: %v", err)
		}
		if err := tr.Rename(t.Context(), "mine", "taken"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("renamed to a file that exists: %v", err)
		}
		if err := tr.Rename(t.Context(), "mine", "final"); err != nil {
			t.Errorf("renamed: %v", err)
		}
		if err := tr.Rename(t.Context(), "mine", "other"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("renamed again: %v", err)
		}

		for name, want := range map[string]string{"taken": "taken", "final": "mine"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	})
}

func TestTransport_ErrorsAreNamed(t *testing.T) {
	t.Parallel()
	// What does not exist is fs.ErrNotExist in every call, a file above the limit is ErrTooLarge, and a call whose
	// context has ended does nothing; afterwards the transport still works.
	each(t, func(t *testing.T, tr transport.Transport, dir string) {
		if _, err := tr.Create(t.Context(), "large", strings.NewReader("0123456789")); err != nil {
			t.Fatal(err)
		}
		_, list := tr.List(t.Context(), "none", 1)
		_, stat := tr.Stat(t.Context(), "none")
		for name, err := range map[string]error{"list": list, "stat": stat, "read": tr.Read(t.Context(), "none", io.Discard, 1),
			"remove": tr.Remove(t.Context(), "none"), "rename": tr.Rename(t.Context(), "none", "other")} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := tr.Read(t.Context(), "large", io.Discard, 9); !errors.Is(err, transport.ErrTooLarge) {
			t.Errorf("large: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tr.Create(ended, "late", strings.NewReader("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("late: %v", err)
		}
		if err := tr.Read(t.Context(), "large", io.Discard, 10); err != nil {
			t.Error(err)
		}
	})
}

func TestSFTP_ConnectsAgain(t *testing.T) {
	t.Parallel()
	// After the connection was cut, one call fails at most, and the next one connects again. All calls use one
	// connection.
	server := sftptest.Start(t)
	client := newSFTP(t, server, t.TempDir())
	for i := range 3 {
		if _, err := client.Create(t.Context(), fmt.Sprint(i), strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}

	server.Disconnect()
	_, first := client.List(t.Context(), "", 10)
	files, second := client.List(t.Context(), "", 10)

	if first == nil || second != nil || len(files) != 3 {
		t.Errorf("%v, then %v with %d files", first, second, len(files))
	}
}

func TestSFTP_NoUnknownHostKey(t *testing.T) {
	t.Parallel()
	// A server with another key than the pinned one is given nothing, and the error names its fingerprint. A pinned
	// key can be a fingerprint, a key, or a line of known_hosts, and one of several.
	server, other := sftptest.Start(t), sftptest.Start(t)
	for name, pinned := range map[string]string{"fingerprint": server.Fingerprint, "key": server.HostKey,
		"known_hosts": "bank.example " + server.HostKey,
		"several":     other.Fingerprint + "\n" + server.HostKey} {
		if _, err := newSFTP(t, server, "", func(c *transport.SFTPConfig) { c.HostKeys = pinned }).List(t.Context(), "", 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	asked := false
	client := newSFTP(t, server, "", func(c *transport.SFTPConfig) {
		c.HostKeys = other.Fingerprint
		c.Login = func(context.Context) (transport.Login, error) {
			asked = true
			return transport.Login{Password: []byte("secret")}, nil
		}
	})
	_, err := client.List(t.Context(), "", 1)

	if err == nil || !strings.Contains(err.Error(), server.Fingerprint) || !strings.Contains(err.Error(), "not pinned") || !asked {
		t.Errorf("another key: %v", err)
	}
	for _, pinned := range []string{"", "SHA256:short", "any", "# nothing"} {
		if _, err := transport.NewSFTP(transport.SFTPConfig{HostKeys: pinned}); err == nil {
			t.Errorf("%q was taken for a host key", pinned)
		}
	}
}

func TestSFTP_WrongLoginIsNamed(t *testing.T) {
	t.Parallel()
	// A key that the server does not know, and one that cannot be read, are errors that do not contain it.
	server, other := sftptest.Start(t), sftptest.Start(t)
	for want, login := range map[string]transport.Login{"unable to authenticate": {PrivateKey: other.PrivateKey},
		"the private key cannot be read": {PrivateKey: []byte("not a key")}, "neither a password nor a private key": {}} {
		_, err := newSFTP(t, server, "", func(c *transport.SFTPConfig) {
			c.Login = func(context.Context) (transport.Login, error) { return login, nil }
		}).List(t.Context(), "", 1)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "not a key") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestSFTP_SilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	// A server that accepts connections and says nothing ends a call at the timeout, and at once when its context ends. The
	// error has the text of that of the network and is none, because those are taken for an outage of the database.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	config := transport.SFTPConfig{Address: listener.Addr().String(), HostKeys: "SHA256:" + strings.Repeat("A", 43),
		Timeout: 50 * time.Millisecond,
		Login:   func(context.Context) (transport.Login, error) { return transport.Login{Password: []byte("x")}, nil }}
	client, err := transport.NewSFTP(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Stat(t.Context(), "x")
	var network net.Error
	if err == nil || !strings.Contains(err.Error(), "i/o timeout") || errors.As(err, &network) {
		t.Errorf("timeout: %v", err)
	}

	config.Timeout = time.Hour
	if client, err = transport.NewSFTP(config); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.Stat(ctx, "x"); err == nil {
		t.Error("no error after the end of the context")
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Stat(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "is closed") || errors.As(err, &network) {
		t.Errorf("closed: %v", err)
	}
}

func TestJoin_StaysInTheFolder(t *testing.T) {
	t.Parallel()
	// A bank's names of files lead nowhere else.
	for _, name := range []string{"", ".", "..", "a/b", "../a", `..\a`, "a\x00"} {
		if got, err := transport.Join("in", name); err == nil {
			t.Errorf("%q became %q", name, got)
		}
	}
	if got, err := transport.Join("in", "..a.xml"); err != nil || got != "in/..a.xml" {
		t.Errorf("%q, %v", got, err)
	}
}
