package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// TokenStore keeps the access tokens of agents in a file, by the URL of their service.
type TokenStore struct {
	// Path is the path of the file. Its folder is created if it is missing.
	Path string
}

// DefaultTokenPath is where tokens are kept unless another file is named.
func DefaultTokenPath() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for settings (%w); set --token-file", err)
	}
	return filepath.Join(folder, "causeway", "agent-tokens.json"), nil
}

// storedToken is the token of a service in the file.
type storedToken struct {
	AccessToken string `json:"accessToken"`
}

// Load returns the token for a service; it is zero if there is none.
func (s *TokenStore) Load(baseURL string) (Token, error) {
	stored, err := s.read()
	if err != nil || stored[baseURL].AccessToken == "" {
		return Token{}, err
	}
	token, err := NewToken(stored[baseURL].AccessToken)
	if err != nil {
		return Token{}, fmt.Errorf("%s, for %s: %w", s.Path, baseURL, err)
	}
	return token, nil
}

// Save replaces the token for a service.
func (s *TokenStore) Save(baseURL string, token Token) error {
	if err := s.prepare(); err != nil {
		return err
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	stored, err := s.read()
	if err != nil {
		return err
	}
	stored[baseURL] = storedToken{AccessToken: token.secret}
	text, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return err
	}
	return s.replace(append(text, '\n'))
}

// prepare creates the folder, and returns an error if the file could not be written.
func (s *TokenStore) prepare() error {
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	if _, err := s.read(); err != nil {
		return err
	}
	probe, err := os.CreateTemp(filepath.Dir(s.Path), ".agent-tokens-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// read returns what is in the file; nothing if there is none. It refuses a file that others can read.
func (s *TokenStore) read() (map[string]storedToken, error) {
	stored := map[string]storedToken{}
	info, err := os.Stat(s.Path)
	if errors.Is(err, os.ErrNotExist) {
		return stored, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("other users can read the access tokens in %s: run chmod 600 on it", s.Path)
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		// Without the error, which can quote the file.
		return nil, fmt.Errorf("%s is not a file of access tokens; move it away", s.Path)
	}
	return stored, nil
}

// replace replaces the file atomically. Only its owner can read it.
func (s *TokenStore) replace(text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(s.Path), ".agent-tokens-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), s.Path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// lockTimeout is how long to wait for another process that writes the file.
const lockTimeout = 5 * time.Second

// lock excludes other processes until unlock is called.
func (s *TokenStore) lock() (unlock func(), err error) {
	file, err := os.OpenFile(s.Path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	for syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil { // released when the file is closed
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("another process holds %s.lock", s.Path)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return func() { _ = file.Close() }, nil
}
