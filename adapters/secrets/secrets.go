// Package secrets reads passwords and keys from files and from the environment.
package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"causeway/ports"
)

// MaxSize is the largest secret, in bytes.
const MaxSize = 64 << 10

// Secrets implements ports.Secrets.
type Secrets struct{ lookup func(string) (string, bool) }

var _ ports.Secrets = Secrets{}

// New returns secrets of the file system and the environment of this process.
func New() Secrets { return Secrets{lookup: os.LookupEnv} }

// Secret implements ports.Secrets. A line break at the end is not part of the secret, because editors add it. A file that
// other users can read is refused.
func (s Secrets) Secret(ctx context.Context, reference string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	kind, name, _ := strings.Cut(reference, ":")
	var secret []byte
	var err error
	switch kind {
	case "file":
		secret, err = readFile(name)
	case "env":
		value, exists := s.lookup(name)
		if !exists {
			err = errors.New("the variable is not set in the environment of this process")
		}
		secret = []byte(value)
	default:
		// What is no reference may be the secret itself.
		return nil, errors.New("a secret must be given as file:/path or env:NAME")
	}
	if err == nil {
		secret = bytes.TrimRight(secret, "\r\n")
		err = checkSize(len(secret))
	}
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", reference, err)
	}
	return secret, nil
}

func checkSize(n int) error {
	switch {
	case n == 0:
		return errors.New("it is empty")
	case n > MaxSize:
		return fmt.Errorf("it is larger than %d bytes", MaxSize)
	}
	return nil
}

func readFile(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		return nil, errors.New("the path must be absolute")
	}
	// A pipe would block.
	info, err := os.Stat(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = file.Close() }()
	if info, err = file.Stat(); err != nil {
		return nil, withoutPath(err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("every user of this machine has access to it (mode %04o); run chmod o= on it", info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxSize+3)) // with a line break
	return data, withoutPath(err)
}

// withoutPath returns the error without the path, which the reference names.
func withoutPath(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
