package iso20022

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// message is a message by its name and version, such as pain.002 and 10.
type message struct {
	Name    string
	Version string // empty if the namespace names none
}

// elements are the elements that messages consist of. The namespaces of some banks name no message.
var elements = map[string]string{
	"CstmrCdtTrfInitn":      "pain.001",
	"CstmrPmtStsRpt":        "pain.002",
	"BkToCstmrAcctRpt":      "camt.052",
	"BkToCstmrStmt":         "camt.053",
	"BkToCstmrDbtCdtNtfctn": "camt.054",
}

var namespaceRegexp = regexp.MustCompile(`(?:^|[^a-z])([a-z]{4}\.[0-9]{3})(?:\.001\.([0-9]{2}))?(?:[^0-9]|$)`)

// messageOf returns the message that an element is; none if it is around one.
func messageOf(name xml.Name) message {
	found := namespaceRegexp.FindStringSubmatch(name.Space)
	known := elements[name.Local]
	switch {
	case known != "" && found != nil && found[1] == known:
		return message{known, found[2]}
	case known != "":
		return message{Name: known}
	case found != nil && found[1] != "head.001" && name.Local != "Document":
		return message{found[1], found[2]}
	}
	return message{}
}

// MessageOf returns the name of the first message of a file, such as "pain.002" or "camt.054". It reads no further than to
// its beginning.
func MessageOf(r io.Reader) (string, error) {
	name, errFound := "", errors.New("found")
	err := scan(r, func(m message) error { name = m.Name; return errFound }, nil)
	if name != "" {
		return name, nil
	}
	return "", err
}

// accepting returns a function that refuses other messages and versions before the first that is known.
func accepting(firstVersion string, names ...string) func(message) error {
	return func(m message) error {
		for _, name := range names {
			switch {
			case m.Name != name:
			case m.Version != "" && m.Version < firstVersion:
				return fmt.Errorf("it is %s of version %s, which is not supported: ask the bank for version %s or later", m.Name, m.Version, firstVersion)
			default:
				return nil
			}
		}
		return fmt.Errorf("it is a message %s, not %s: put it where such files are read", m.Name, strings.Join(names, " or "))
	}
}
