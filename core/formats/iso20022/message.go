package iso20022

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"causeway/core/formats/textfile"
)

// Message is a message by its name and version, such as pain.002 and 10.
type Message struct {
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

// namespaceRegexp finds the message and its version in a namespace. Those of banks and of SWIFT differ from ISO's in what
// is around it.
var namespaceRegexp = regexp.MustCompile(`(?:^|[^a-z])([a-z]{4}\.[0-9]{3})(?:\.001\.([0-9]{2}))?(?:[^0-9]|$)`)

// MessageOfNamespace returns the message that a namespace names; none if it names none.
func MessageOfNamespace(space string) Message {
	if found := namespaceRegexp.FindStringSubmatch(space); found != nil {
		return Message{found[1], found[2]}
	}
	return Message{}
}

// MessageOfElement returns the name of the message that consists of an element; empty if it is of none.
func MessageOfElement(element string) string { return elements[element] }

// messageOf returns the message that an element is; none if it is around one.
func messageOf(name xml.Name) Message {
	found := MessageOfNamespace(name.Space)
	known := elements[name.Local]
	switch {
	case known != "" && found.Name == known:
		return found
	case known != "":
		return Message{Name: known}
	case found.Name != "head.001" && name.Local != "Document":
		return found
	}
	return Message{}
}

// MessageOf returns the name of the first message of a file, such as "pain.002" or "camt.054". It reads no further than to
// its beginning.
func MessageOf(r io.Reader) (string, error) {
	name, errFound := "", errors.New("found")
	err := scanFile(textfile.Limit(r, MaxFileBytes), func(found xml.Name) (bool, error) {
		if name = messageOf(found).Name; name != "" {
			return false, errFound
		}
		return false, nil
	}, nil)
	if name != "" {
		return name, nil
	}
	return "", err
}

// accepting returns a function that refuses other messages and versions before the first that is known.
func accepting(firstVersion string, names ...string) func(xml.Name) (bool, error) {
	return func(name xml.Name) (bool, error) {
		m := messageOf(name)
		if m.Name == "" {
			return false, nil
		}
		for _, name := range names {
			switch {
			case m.Name != name:
			case m.Version != "" && m.Version < firstVersion:
				return false, textfile.Errorf(0, "it is %s of version %s, which is not supported: ask the bank for version %s or later",
					m.Name, m.Version, firstVersion)
			default:
				return true, nil
			}
		}
		return false, textfile.Errorf(0, "it is a message %s, not %s: put it where such files are read", m.Name, strings.Join(names, " or "))
	}
}
