package rail

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// secretNames are parts of the names of settings whose value is a secret, in lower case.
var secretNames = []string{"password", "passphrase", "secret", "seed", "mnemonic", "privatekey", "signingkey", "apikey",
	"token", "credential"}

// publicNames are parts of names that only sound like those of secrets.
var publicNames = []string{"tokencontract", "tokenaddress", "tokens", "publickey"}

var (
	// credentialsInURL matches a URL with a password.
	credentialsInURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/@\s]*:[^/@\s]+@`)
	// reference matches a reference to a secret, as of ports.Secrets.
	reference = regexp.MustCompile(`^(file:/.|env:[A-Za-z_])`)
)

// IsSecretReference reports whether a value refers to a secret that is kept elsewhere.
func IsSecretReference(value string) bool { return reference.MatchString(value) }

// HoldsSecret reports whether a setting holds a secret and not a reference to one. It goes by the name and by what can
// be seen of the value; an adapter refuses what else it knows to be secret.
func HoldsSecret(name, value string) bool {
	if value == "" || IsSecretReference(value) {
		return false
	}
	if strings.Contains(value, "-----BEGIN") && strings.Contains(value, "PRIVATE KEY") || credentialsInURL.MatchString(value) {
		return true
	}
	plain := strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
	contains := func(part string) bool { return strings.Contains(plain, part) }
	return slices.ContainsFunc(secretNames, contains) && !slices.ContainsFunc(publicNames, contains)
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func joined[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}
