// Package vaulttest serves the part of Vault's transit engine that tests need.
package vaulttest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Server serves encrypt and decrypt of the transit engine, with a new key for each name.
type Server struct {
	t testing.TB

	mu       sync.Mutex
	keys     map[string][]cipher.AEAD // versions by mount and name
	requests int
	failures []int // statuses of the next responses
}

// Token is the only token that a Server accepts.
const Token = "hvs.test-token"

// New returns a Server without keys.
func New(t testing.TB) *Server { return &Server{t: t, keys: map[string][]cipher.AEAD{}} }

// FailNext makes the next requests fail with these statuses.
func (v *Server) FailNext(statuses ...int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failures = statuses
}

// Rotate adds a version of a key.
func (v *Server) Rotate(key string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.addVersion(key)
}

func (v *Server) addVersion(key string) {
	var secret [32]byte
	_, _ = rand.Read(secret[:])
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		v.t.Error(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		v.t.Error(err)
	}
	v.keys[key] = append(v.keys[key], aead)
}

// ServeHTTP implements http.Handler.
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests++
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(body); err != nil {
			v.t.Error(err)
		}
	}
	refuse := func(status int, message string) { answer(status, map[string][]string{"errors": {message}}) }
	if len(v.failures) > 0 {
		status := v.failures[0]
		v.failures = v.failures[1:]
		if status >= 300 && status < 400 {
			w.Header().Set("Location", "/v1/elsewhere")
		}
		refuse(status, "asked to fail")
		return
	}
	if r.Header.Get("X-Vault-Token") != Token {
		refuse(http.StatusForbidden, "permission denied")
		return
	}
	parts := strings.Split(r.URL.Path, "/") // "", v1, mount…, operation, key
	if len(parts) < 5 || r.Method != http.MethodPost {
		refuse(http.StatusNotFound, "no handler for route")
		return
	}
	operation := parts[len(parts)-2]
	key := strings.Join(parts[2:len(parts)-2], "/") + "/" + parts[len(parts)-1]
	if len(v.keys[key]) == 0 {
		v.addVersion(key)
	}
	var body map[string]string
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	switch operation {
	case "encrypt":
		plain, err := base64.StdEncoding.DecodeString(body["plaintext"])
		if err != nil {
			refuse(http.StatusBadRequest, err.Error())
			return
		}
		sealed := v.keys[key][len(v.keys[key])-1].Seal(nil, nil, plain, nil)
		answer(http.StatusOK, map[string]any{"data": map[string]any{"key_version": len(v.keys[key]),
			"ciphertext": fmt.Sprintf("vault:v%d:%s", len(v.keys[key]), base64.StdEncoding.EncodeToString(sealed))}})
	case "decrypt":
		var version int
		var encoded string
		if _, err := fmt.Sscanf(body["ciphertext"], "vault:v%d:%s", &version, &encoded); err != nil || version < 1 || version > len(v.keys[key]) {
			refuse(http.StatusBadRequest, "invalid ciphertext: version is too new")
			return
		}
		sealed, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil {
			sealed, err = v.keys[key][version-1].Open(nil, nil, sealed, nil)
		}
		if err != nil {
			refuse(http.StatusBadRequest, "cipher: message authentication failed")
			return
		}
		answer(http.StatusOK, map[string]any{"data": map[string]string{"plaintext": base64.StdEncoding.EncodeToString(sealed)}})
	default:
		refuse(http.StatusNotFound, "no handler for route")
	}
}

// Requests returns how many requests were received.
func (v *Server) Requests() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.requests
}
