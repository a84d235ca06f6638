package smtp

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
)

// Security says how the connection to a server is encrypted.
type Security int

// The kinds of encryption.
const (
	// ImplicitTLS: from the beginning (RFC 8314).
	ImplicitTLS Security = iota
	// STARTTLS: before the login, and nothing is sent if the server does not offer it (RFC 3207).
	STARTTLS
	// NoTLS: never. The server must be on the same machine.
	NoTLS
)

// Server is a mail server.
type Server struct {
	Host           string
	Port           int
	Security       Security
	User, Password string // empty: no login
}

var errServerForm = errors.New("smtps://user:password@host:465 (TLS), smtp://user:password@host:587 (STARTTLS), or " +
	"smtp://localhost:25?tls=none for a server on the same machine; characters such as @ in the user or the password are percent-encoded")

// ParseServer parses the URL of a mail server. Its errors say what the URL must be, and do not contain it,
// because it has a password.
func ParseServer(text string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return Server{}, errServerForm
	}
	s := Server{Host: u.Hostname(), User: u.User.Username()}
	s.Password, _ = u.User.Password()
	if (s.User == "") != (s.Password == "") {
		return Server{}, errors.New("a URL with both a user and a password, or with neither")
	}
	switch u.Scheme {
	case "smtps":
		s.Port, s.Security = 465, ImplicitTLS
	case "smtp":
		s.Port, s.Security = 587, STARTTLS
	default:
		return Server{}, errServerForm
	}
	switch {
	case u.RawQuery == "":
	case u.RawQuery != "tls=none" || u.Scheme != "smtp":
		return Server{}, errServerForm
	case !isLoopback(s.Host):
		return Server{}, fmt.Errorf("a URL without tls=none, unless the server is on the same machine: %s is neither localhost nor a loopback "+
			"address", s.Host)
	default:
		s.Security = NoTLS
	}
	if u.Port() != "" {
		if s.Port, err = strconv.Atoi(u.Port()); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, errors.New("a URL with a port from 1 to 65535")
		}
	}
	return s, nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
