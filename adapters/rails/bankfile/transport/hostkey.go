package transport

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// hostKeys are the keys of a server that are accepted.
type hostKeys struct {
	fingerprints []string
	// algorithms are those of the keys; empty if only fingerprints are known.
	algorithms []string
}

// parseHostKeys reads pinned keys, one per line: a fingerprint such as "SHA256:…", or a key as in known_hosts or as
// ssh-keyscan writes it.
func parseHostKeys(text string) (hostKeys, error) {
	var keys hostKeys
	onlyKeys := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "SHA256:") {
			if len(line) != len("SHA256:")+43 {
				return keys, fmt.Errorf("%q is not a SHA-256 fingerprint: it has 43 characters after SHA256:", line)
			}
			keys.fingerprints, onlyKeys = append(keys.fingerprints, line), false
			continue
		}
		key, err := parseKey(line)
		if err != nil {
			return keys, err
		}
		keys.fingerprints = append(keys.fingerprints, ssh.FingerprintSHA256(key))
		keys.algorithms = append(keys.algorithms, algorithmsOf(key.Type())...)
	}
	if len(keys.fingerprints) == 0 {
		return keys, errors.New("no host key is pinned: enter the fingerprint that the bank has published, as SHA256:…")
	}
	if !onlyKeys {
		keys.algorithms = nil
	}
	return keys, nil
}

// parseKey reads a key with or without the name of the host in front.
func parseKey(line string) (ssh.PublicKey, error) {
	if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err == nil {
		return key, nil
	}
	marker, _, key, _, _, err := ssh.ParseKnownHosts([]byte(line))
	if err != nil || marker != "" {
		return nil, fmt.Errorf("%q is neither a fingerprint (SHA256:…) nor a host key (ssh-ed25519 …)", line)
	}
	return key, nil
}

// keyFamilies are the algorithms for each kind of host key, in the order in which they are asked for.
var keyFamilies = [][]string{
	{ssh.KeyAlgoED25519},
	{ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

func algorithmsOf(keyType string) []string {
	if keyType == ssh.KeyAlgoRSA {
		return keyFamilies[2]
	}
	return []string{keyType}
}

// attempts returns the algorithms to ask a server for, one list for each attempt: a server has several keys, and shows
// one of the kind that it is asked for.
func (k hostKeys) attempts() [][]string {
	if k.algorithms != nil {
		return [][]string{k.algorithms}
	}
	return keyFamilies
}

// hostKeyError says that a server has shown another key.
type hostKeyError struct{ shown []string }

func (e *hostKeyError) Error() string {
	return fmt.Sprintf("the server's host key is %s, which is not pinned. If the bank confirms this fingerprint, add it to the settings of "+
		"the connection; otherwise something else answers in place of the bank",
		strings.Join(e.shown, " or "))
}

// check is the callback of package ssh.
func (k hostKeys) check(_ string, _ net.Addr, key ssh.PublicKey) error {
	shown := ssh.FingerprintSHA256(key)
	if slices.Contains(k.fingerprints, shown) {
		return nil
	}
	return &hostKeyError{[]string{key.Type() + " " + shown}}
}
