package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// mask replaces what differs from run to run by what never does: the same by the same,
// in every text of one story.
type mask struct {
	instead map[string]string // learnt words
	count   map[string]int    // of those, by kind
	secrets []string
	lines   []line // of the story
	chapter int
	moments map[string]string
}

// line is when one began, and when it is told to have begun.
type line struct{ began, told time.Time }

// Lines are told to follow each other in steps. A chapter has a span of its own, so that
// a new line moves no other chapter.
const (
	step = 7413 * time.Millisecond
	span = 10 * time.Minute
)

var storyBegins = time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)

func newMask() *mask {
	return &mask{instead: map[string]string{}, count: map[string]int{}, moments: map[string]string{}}
}

// begin opens a line of the story, in the first millisecond after all that was before:
// the service tells moments to the millisecond.
func (m *mask) begin() {
	called, now := time.Now(), time.Now()
	for now.UnixMilli() == called.UnixMilli() {
		runtime.Gosched()
		now = time.Now()
	}
	told := storyBegins.Add(time.Duration(m.chapter) * span)
	if n := len(m.lines); n > 0 && !m.lines[n-1].told.Before(told) {
		told = m.lines[n-1].told.Add(step)
	}
	m.lines = append(m.lines, line{now.Truncate(time.Millisecond), told})
}

// turn opens a chapter of the story.
func (m *mask) turn() { m.chapter++ }

// secret is a word that must not be shown.
func (m *mask) secret(word string) { m.secrets = append(m.secrets, word) }

// Words of the service that can be told by their form.
var (
	anyID     = regexp.MustCompile(`(?:([A-Z][A-Za-z]+):)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`)
	anyMoment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)
	anyMonth  = regexp.MustCompile(`\b\d{4}-\d\d(?:-\d\d)?\b`)
	aCode     = regexp.MustCompile(`^(FUND-)?[0-9A-Z]{12}$`)
)

// Beginnings that every masked id and moment has.
const (
	maskedID  = "0199e3a4-"
	maskedDay = "2026-01-15T"
)

// learn finds the words in an answer that can only be told by where they stand:
// references, addresses to pay to, credentials.
func (m *mask) learn(text []byte) {
	value, err := parseJSON(text)
	if err != nil {
		return // no body, or none of ours
	}
	m.learnFrom(value, "", "")
}

func (m *mask) learnFrom(value any, key, under string) {
	switch value := value.(type) {
	case jsonObject:
		for _, f := range value {
			m.learnFrom(f.value, f.name, key)
		}
	case []any:
		for _, item := range value {
			m.learnFrom(item, key, under)
		}
	case string:
		_, known := m.instead[value]
		switch {
		case known || value == "":
		case strings.HasPrefix(key, "reference") && aCode.MatchString(value):
			before := aCode.FindStringSubmatch(value)[1]
			m.instead[value] = before + letters("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 12, m.next("reference"))
		case key == "address" && under == "accountOrWalletInfo":
			m.instead[value] = m.address(value)
		case key == "rootHash" || key == "leafHash" || key == "leaf" || key == "hashes" || key == "publicKey" && len(value) == len(exampleRaw):
			m.instead[value] = m.bytes(value)
		case key == "note":
			if signature := noteSignature.FindStringSubmatch(value); signature != nil {
				m.instead[signature[1]] = m.bytes(signature[1])
			}
		case key == "head":
			found := wholeNote.FindStringSubmatch(value)
			for _, word := range found[min(1, len(found)):] {
				if _, known := m.instead[word]; !known {
					m.instead[word] = m.bytes(word)
				}
			}
		case key == "verifierKey":
			if found := verifierKey.FindStringSubmatch(value); found != nil {
				m.instead[found[1]] = "+1f2e3d4c+" + m.bytes(found[1][10:])
			}
		case key == "digest":
			m.instead[value] = letters("0123456789abcdef", 64, m.next("digest"))
		case key == "clientId":
			m.instead[value] = letters("0123456789abcdef", 32, m.next("client id"))
		case key == "clientSecret":
			m.secret(value)
			m.instead[value] = "the secret, which is told this once"
		}
	}
}

// Words in signed notes and in the keys that verify them.
var (
	noteSignature = regexp.MustCompile(`\n— \S+ (\S+)\n$`)
	wholeNote     = regexp.MustCompile(`^\S+\n\d+\n(\S+)\n\n— \S+ (\S+)\n$`) // the root, and the signature
	verifierKey   = regexp.MustCompile(`(\+[0-9a-f]{8}\+[0-9A-Za-z+/=]+)$`)
)

// bytes are others in base64, as many.
func (m *mask) bytes(value string) string {
	plain := strings.TrimRight(value, "=")
	return letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", len(plain), m.next("bytes")) + value[len(plain):]
}

// next names one more of a kind.
func (m *mask) next(kind string) string {
	m.count[kind]++
	return fmt.Sprintf("%s %d", kind, m.count[kind])
}

// letters are n of an alphabet, always the same for one name.
func letters(alphabet string, n int, name string) string {
	out := make([]byte, 0, n)
	for i := 0; len(out) < n; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", name, i))
		for _, b := range sum[:min(len(sum), n-len(out))] {
			out = append(out, alphabet[int(b)%len(alphabet)])
		}
	}
	return string(out)
}

// address is another one of the same network.
func (m *mask) address(value string) string {
	const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	switch {
	case strings.HasPrefix(value, "0x"):
		return "0x" + letters("0123456789abcdef", 40, m.next("hex address"))
	case strings.HasPrefix(value, "spark1"):
		return "spark1" + letters("0123456789abcdef", 40, m.next("spark address"))
	case strings.HasPrefix(value, "T") && len(value) == 34:
		return "T" + letters(base58, 33, m.next("tron address"))
	default:
		return letters(base58, 44, m.next("address"))
	}
}

// text masks every word in a text.
func (m *mask) text(text string) string {
	for word, other := range m.instead {
		text = strings.ReplaceAll(text, word, other) // no word is a part of another
	}
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		found := anyID.FindStringSubmatch(id)
		if strings.HasPrefix(found[2], maskedID) {
			return id
		}
		other, known := m.instead[found[2]]
		if !known {
			other = m.id(found[1])
			m.instead[found[2]] = other
		}
		return strings.TrimSuffix(id, found[2]) + other
	})
	text = anyMoment.ReplaceAllStringFunc(text, m.moment)
	text = strings.ReplaceAll(text, time.Now().UTC().Format(time.DateOnly), storyBegins.Format(time.DateOnly))
	return anyMonth.ReplaceAllStringFunc(text, month)
}

// month tells this month and the last as those of the story. A date is none.
func month(text string) string {
	now := time.Now().UTC()
	switch text {
	case now.Format("2006-01"):
		return storyBegins.Format("2006-01")
	case lastMonth().Format("2006-01"):
		return storyBegins.AddDate(0, -1, 0).Format("2006-01")
	}
	return text
}

// lastMonth is the first moment of the month before this one.
func lastMonth() time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
}

// id is the next of a type; the count stands at its end.
func (m *mask) id(kind string) string {
	m.next("id of " + kind)
	middle := letters("0123456789abcdef", 10, kind)
	return fmt.Sprintf("%s%s-7%s-8%s-%012d", maskedID, middle[:4], middle[4:7], middle[7:], m.count["id of "+kind])
}

// moment is where one lies in the story: all that happens in one line of it is told with
// one time. A moment to come keeps its distance.
func (m *mask) moment(text string) string {
	if strings.HasPrefix(text, maskedDay) {
		return text
	}
	if known, ok := m.moments[text]; ok {
		return known
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	n := len(m.lines) - 1
	for n > 0 && at.Before(m.lines[n].began) {
		n--
	}
	told := m.lines[n].told
	if at.After(time.Now()) {
		told = told.Add(at.Sub(m.lines[n].began).Truncate(10 * time.Second))
	}
	m.moments[text] = told.Format("2006-01-02T15:04:05.000Z")
	return m.moments[text]
}

// Keys that are published as examples elsewhere: Ed25519 in RFC 8410, section 10.1,
// P-256 in RFC 7517, appendix A.1.
const (
	exampleEd25519 = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"
	exampleRaw     = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
	exampleWhpk    = "whpk_Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
	exampleP256    = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMKBCTNIcKUSDii11ySs3526iDZ8A\niTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==\n-----END PUBLIC KEY-----\n"
)

// json masks a body and cuts a list after two items.
func (m *mask) json(text []byte) (json.RawMessage, error) {
	value, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if body, ok := value.(jsonObject); ok {
		for i, f := range body {
			if list, ok := f.value.([]any); ok && f.name == "data" {
				body[i].value = list[:min(2, len(list))]
			}
		}
	}
	return writeJSON(m.value(value, ""))
}

func (m *mask) value(value any, key string) any {
	switch value := value.(type) {
	case jsonObject:
		for i, f := range value {
			value[i].value = m.value(f.value, f.name)
		}
		return value
	case []any:
		for i := range value {
			value[i] = m.value(value[i], key)
		}
		return value
	case json.Number:
		if key == "durationMs" {
			return json.Number("84")
		}
		return value
	case string:
		switch {
		case key == "publicKey" && len(value) == len(exampleRaw):
			return exampleRaw
		case key == "publicKey" && len(value) < len(exampleP256):
			return exampleEd25519
		case key == "publicKey":
			return exampleP256
		case key == "standardWebhooksKey":
			return exampleWhpk
		case key == "nextCursor":
			if plain, err := base64.RawURLEncoding.DecodeString(value); err == nil {
				return base64.RawURLEncoding.EncodeToString([]byte(m.text(string(plain))))
			}
		}
		return m.text(value)
	}
	return value
}

// leak is a word in an example that a secret has, or that would differ in the next run.
func (m *mask) leak(text []byte) string {
	for _, secret := range m.secrets {
		if bytes.Contains(text, []byte(secret)) {
			return secret[:4] + "…"
		}
	}
	for word, other := range m.instead {
		if word != other && bytes.Contains(text, []byte(word)) {
			return word
		}
	}
	for _, id := range anyID.FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(id[2], maskedID) {
			return id[0]
		}
	}
	for _, moment := range anyMoment.FindAllString(string(text), -1) {
		if !strings.HasPrefix(moment, maskedDay) {
			return moment
		}
	}
	if here := bytes.Index(text, []byte("127.0.0.1")); here >= 0 {
		return "127.0.0.1"
	}
	return ""
}
