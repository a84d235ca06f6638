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

// mask replaces values that differ between runs by constant ones: the same value by the same
// replacement in all texts of one run.
type mask struct {
	replacements map[string]string // learnt words
	counts       map[string]int    // of those, by kind
	secrets      []string
	steps        []recordedStep // of the run
	section      int
	timestamps   map[string]string
}

// recordedStep is the time a step started, and the time that the examples show for it.
type recordedStep struct{ startedAt, shownAt time.Time }

// The shown times of steps follow each other. Each section has a range of its own, so that a
// new step changes no other section.
const (
	stepInterval    = 7413 * time.Millisecond
	sectionInterval = 10 * time.Minute
)

var examplesEpoch = time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)

func newMask() *mask {
	return &mask{replacements: map[string]string{}, counts: map[string]int{}, timestamps: map[string]string{}}
}

// beginStep starts a step, in the first millisecond after the last one: the service has
// timestamps in milliseconds.
func (m *mask) beginStep() {
	called, now := time.Now(), time.Now()
	for now.UnixMilli() == called.UnixMilli() {
		runtime.Gosched()
		now = time.Now()
	}
	shownAt := examplesEpoch.Add(time.Duration(m.section) * sectionInterval)
	if n := len(m.steps); n > 0 && !m.steps[n-1].shownAt.Before(shownAt) {
		shownAt = m.steps[n-1].shownAt.Add(stepInterval)
	}
	m.steps = append(m.steps, recordedStep{now.Truncate(time.Millisecond), shownAt})
}

// beginSection starts a section of the script.
func (m *mask) beginSection() { m.section++ }

// addSecret adds a text that must not be in any example.
func (m *mask) addSecret(word string) { m.secrets = append(m.secrets, word) }

// Values of the service that are recognized by their form.
var (
	idPattern         = regexp.MustCompile(`(?:([A-Z][A-Za-z]+):)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`)
	timestampPattern  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)
	yearPathPattern   = regexp.MustCompile(yearPath + `\d{4}`)
	monthPattern      = regexp.MustCompile(`\b\d{4}-\d\d(?:-\d\d)?\b`)
	referencePattern  = regexp.MustCompile(`^(FUND-)?[0-9A-Z]{12}$`)
	deviceCodePattern = regexp.MustCompile(`^AGENT-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`) // of an agent
	rawIDPattern      = regexp.MustCompile(`^[0-9A-Za-z_-]{22}$`)                                 // an id in base64url
	noncePattern      = regexp.MustCompile(`Nonce: ([0-9a-f]{32})`)
	codePattern       = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{12}$`) // of an invitation
)

// Prefixes of every masked id and timestamp. What ends a day or a week later is on that day.
const (
	maskedIDPrefix      = "0199e3a4-"
	maskedDayPrefix     = "2026-01-15T"
	maskedNextDayPrefix = "2026-01-16T"
	maskedWeekPrefix    = "2026-01-22T"
	maskedSessionPrefix = "2026-07-14T" // of strong customer authentication, 180 days later
)

// yearPath is followed by a financial year.
const yearPath = "/ledger/years/"

// learnBody finds the values in a response that are recognized by their field only:
// references, addresses to pay to, credentials.
func (m *mask) learnBody(text []byte) {
	value, err := parseJSON(text)
	if err != nil {
		return // no body, or none of ours
	}
	m.learnValue(value, "", "")
}

func (m *mask) learnValue(value any, key, under string) {
	switch value := value.(type) {
	case jsonObject:
		for _, f := range value {
			m.learnValue(f.value, f.name, key)
		}
	case []any:
		for _, item := range value {
			m.learnValue(item, key, under)
		}
	case string:
		_, known := m.replacements[value]
		switch {
		case known || value == "":
		case strings.HasPrefix(key, "reference") && referencePattern.MatchString(value):
			before := referencePattern.FindStringSubmatch(value)[1]
			m.replacements[value] = before + derivedText("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 12, m.nextLabel("reference"))
		case key == "code" && codePattern.MatchString(value):
			m.replacements[value] = derivedText("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 12, m.nextLabel("code"))
		case key == "code" && deviceCodePattern.MatchString(value):
			half := func() string { return derivedText("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 4, m.nextLabel("device code")) }
			m.replacements[value] = "AGENT-" + half() + "-" + half()
		case key == "invoice" && strings.HasPrefix(value, "uma1"): // the length of the signature varies
			m.replacements[value] = "uma1" + derivedText("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 400, m.nextLabel("UMA invoice"))
		case key == "address" && under == "accountOrWalletInfo":
			m.replacements[value] = m.maskAddress(value)
		case key == "rootHash" || key == "leafHash" || key == "leaf" || key == "hashes" || key == "publicKey" && len(value) == len(exampleRaw):
			m.replacements[value] = m.maskBytes(value)
		case key == "note":
			if signature := noteSignaturePattern.FindStringSubmatch(value); signature != nil {
				m.replacements[signature[1]] = m.maskBytes(signature[1])
			}
		case key == "checkpoint":
			found := notePattern.FindStringSubmatch(value)
			for _, word := range found[min(1, len(found)):] {
				if _, known := m.replacements[word]; !known {
					m.replacements[word] = m.maskBytes(word)
				}
			}
		case key == "verifierKey":
			if found := verifierKeyPattern.FindStringSubmatch(value); found != nil {
				m.replacements[found[1]] = "+1f2e3d4c+" + m.maskBytes(found[1][10:])
			}
		case key == "sealedAt": // in the background, before or after the next step begins
			m.replacements[value] = examplesEpoch.Add(time.Duration(m.section) * sectionInterval).Format("2006-01-02T15:04:05.000Z")
		case key == "digest" || key == "postingDigest":
			m.replacements[value] = derivedText("0123456789abcdef", 64, m.nextLabel("digest"))
		case key == "payloadToSign":
			for _, hash := range bodyHashPattern.FindAllStringSubmatch(value, -1) {
				m.replacements[hash[1]] = derivedText("0123456789abcdef", len(hash[1]), m.nextLabel("body hash"))
			}
		case key == "messageToSign":
			if nonce := noncePattern.FindStringSubmatch(value); nonce != nil {
				m.replacements[nonce[1]] = derivedText("0123456789abcdef", len(nonce[1]), m.nextLabel("nonce"))
			}
		case key == "encryptedSessionSigningKey":
			m.replacements[value] = derivedText(base58Alphabet, 116, m.nextLabel("session key")) // the length varies
		case key == "encryptedWalletCredentials" || key == "otpEncryptionTargetBundle":
			for _, hex := range longHexPattern.FindAllString(value, -1) {
				length := 130 // the key; the lengths of the words and of the signature vary
				switch {
				case len(hex) > 200:
					length = 800
				case len(hex) > 130:
					length = 142
				}
				m.replacements[hex] = derivedText("0123456789abcdef", length, m.nextLabel("export"))
			}
		case key == "Service-Webhook-Signature":
			m.replacements[value] = `{"v":"1","s":"` + derivedText(base58Alphabet, 96, m.nextLabel("webhook signature")) + `"}`
		case key == "webhook-signature":
			m.replacements[value] = "v1," + derivedText(base58Alphabet, 43, m.nextLabel("webhook signature")) + "="
		case key == "webhook-timestamp":
			m.replacements[value] = "1768472437"
		case key == "challenge":
			m.replacements[value] = m.maskBytes(value)
		case key == "id" && rawIDPattern.MatchString(value): // of a passkey
			m.replacements[value] = m.maskBytes(value)
		case key == "recoveryCodes":
			m.addSecret(value)
			m.replacements[value] = derivedText("ABCDEFGHJKLMNPQRSTUVWXYZ", 4, m.nextLabel("recovery code")) + "-…"
		case key == "clientId":
			m.replacements[value] = derivedText("0123456789abcdef", 32, m.nextLabel("client id"))
		case key == "kycUrl":
			m.addSecret(value[strings.LastIndex(value, "/")+1:])
			m.replacements[value] = "https://pay.example.com/verify/" + derivedText("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
				64, m.nextLabel("link"))
		case key == "clientSecret", key == "secret", key == "accessToken":
			m.addSecret(value)
			m.replacements[value] = "shown once, in this response"
		}
	}
}

// Values in what the owners of wallets sign and receive.
var (
	bodyHashPattern = regexp.MustCompile(`"bodySha256":"([0-9a-f]{64})"`)
	longHexPattern  = regexp.MustCompile(`[0-9a-f]{100,}`)
)

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// Values in signed notes and in the keys that verify them.
var (
	noteSignaturePattern = regexp.MustCompile(`\n— \S+ (\S+)\n$`)
	notePattern          = regexp.MustCompile(`^\S+\n\d+\n(\S+)\n\n— \S+ (\S+)\n$`) // the root, and the signature
	verifierKeyPattern   = regexp.MustCompile(`(\+[0-9a-f]{8}\+[0-9A-Za-z+/=]+)$`)
)

// maskBytes returns as many other bytes in base64.
func (m *mask) maskBytes(value string) string {
	plain := strings.TrimRight(value, "=")
	return derivedText("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", len(plain), m.nextLabel("bytes")) + value[len(plain):]
}

// nextLabel returns the next label of a kind.
func (m *mask) nextLabel(kind string) string {
	m.counts[kind]++
	return fmt.Sprintf("%s %d", kind, m.counts[kind])
}

// derivedText returns n characters of an alphabet, always the same for one name.
func derivedText(alphabet string, n int, name string) string {
	out := make([]byte, 0, n)
	for i := 0; len(out) < n; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", name, i))
		for _, b := range sum[:min(len(sum), n-len(out))] {
			out = append(out, alphabet[int(b)%len(alphabet)])
		}
	}
	return string(out)
}

// maskAddress returns another address of the same network.
func (m *mask) maskAddress(value string) string {
	switch {
	case strings.HasPrefix(value, "0x"):
		return "0x" + derivedText("0123456789abcdef", 40, m.nextLabel("hex address"))
	case strings.HasPrefix(value, "spark1"):
		return "spark1" + derivedText("0123456789abcdef", 40, m.nextLabel("spark address"))
	case strings.HasPrefix(value, "T") && len(value) == 34:
		return "T" + derivedText(base58Alphabet, 33, m.nextLabel("tron address"))
	default:
		return derivedText(base58Alphabet, 44, m.nextLabel("address"))
	}
}

// maskText masks every value in a text.
func (m *mask) maskText(text string) string {
	for word, other := range m.replacements {
		text = strings.ReplaceAll(text, word, other) // no word is a part of another
	}
	text = idPattern.ReplaceAllStringFunc(text, func(id string) string {
		found := idPattern.FindStringSubmatch(id)
		if strings.HasPrefix(found[2], maskedIDPrefix) {
			return id
		}
		other, known := m.replacements[found[2]]
		if !known {
			other = m.maskID(found[1])
			m.replacements[found[2]] = other
		}
		return strings.TrimSuffix(id, found[2]) + other
	})
	text = timestampPattern.ReplaceAllStringFunc(text, m.maskTimestamp)
	text = strings.ReplaceAll(text, time.Now().UTC().Format(time.DateOnly), examplesEpoch.Format(time.DateOnly))
	text = strings.ReplaceAll(text, lastDay(previousMonth()), lastDay(examplesEpoch.AddDate(0, -1, 0)))
	text = evidenceSizePattern.ReplaceAllString(text, "${1}"+evidenceSize+"\n")
	text = yearPathPattern.ReplaceAllStringFunc(text,
		func(path string) string { return yearPath + maskYear("year", strings.TrimPrefix(path, yearPath)) })
	return monthPattern.ReplaceAllStringFunc(text, maskMonth)
}

// maskYear replaces values of the financial years of the examples, which end with the previous month and a year
// later, by those of calendar years.
func maskYear(key, value string) string {
	last, example := previousMonth(), examplesEpoch.AddDate(0, -1, 0)
	for _, months := range []int{-11, 0, 12} {
		layout := "2006-01"
		switch {
		case key == "year" && months >= 0:
			layout = "2006"
		case key == "yearEndMonth" && months == 0:
			layout = "1"
		case key != "firstMonth" && key != "lastMonth":
			continue
		}
		if value == last.AddDate(0, months, 0).Format(layout) {
			return example.AddDate(0, months, 0).Format(layout)
		}
	}
	return value
}

// maskMonth replaces the current and the previous month by those of the examples. A date is no
// month.
func maskMonth(text string) string {
	now := time.Now().UTC()
	switch text {
	case now.Format("2006-01"):
		return examplesEpoch.Format("2006-01")
	case previousMonth().Format("2006-01"):
		return examplesEpoch.AddDate(0, -1, 0).Format("2006-01")
	}
	return text
}

// previousMonth returns the start of the previous month.
func previousMonth() time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
}

// lastDay returns the last day of the month of a day.
func lastDay(day time.Time) string {
	return time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// maskID returns the next id of a type; it ends in the count.
func (m *mask) maskID(kind string) string {
	m.nextLabel("id of " + kind)
	middle := derivedText("0123456789abcdef", 10, kind)
	return fmt.Sprintf("%s%s-7%s-8%s-%012d", maskedIDPrefix, middle[:4], middle[4:7], middle[7:], m.counts["id of "+kind])
}

// maskTimestamp replaces a timestamp: all in one step have one time. A future time keeps its
// distance.
func (m *mask) maskTimestamp(text string) string {
	if strings.HasPrefix(text, maskedDayPrefix) || strings.HasPrefix(text, maskedNextDayPrefix) {
		return text
	}
	if known, ok := m.timestamps[text]; ok {
		return known
	}
	timestamp, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	n := len(m.steps) - 1
	for n > 0 && timestamp.Before(m.steps[n].startedAt) {
		n--
	}
	shownAt := m.steps[n].shownAt
	if timestamp.After(time.Now()) {
		shownAt = shownAt.Add(timestamp.Sub(m.steps[n].startedAt).Truncate(10 * time.Second))
	}
	m.timestamps[text] = shownAt.Format("2006-01-02T15:04:05.000Z")
	return m.timestamps[text]
}

// Keys that are published as examples: Ed25519 in RFC 8410, section 10.1, P-256 in RFC 7517,
// appendix A.1.
const (
	exampleEd25519 = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"
	exampleRaw     = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
	exampleWhpk    = "whpk_Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
	exampleP256    = "-----BEGIN PUBLIC " +
		"KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMKBCTNIcKUSDii11ySs3526iDZ8A\niTo7Tu6KPAqv7D7gS2XpJFbZiItSs3m9+9Ue6GnvHw/GW2ZZaVtszggXIw==\n-----END PUBLIC KEY-----\n"
)

// maskJSON masks a body and cuts a list after two items.
func (m *mask) maskJSON(text []byte) (json.RawMessage, error) {
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
	return writeJSON(m.maskValue(value, ""))
}

func (m *mask) maskValue(value any, key string) any {
	switch value := value.(type) {
	case jsonObject:
		for i, f := range value {
			value[i].value = m.maskValue(f.value, f.name)
		}
		maskEvidenceSize(value)
		return value
	case []any:
		for i := range value {
			value[i] = m.maskValue(value[i], key)
		}
		return value
	case json.Number:
		if key == "durationMs" {
			return json.Number("84")
		}
		return json.Number(maskYear(key, value.String()))
	case string:
		switch {
		case key == "publicKey" && len(value) == len(exampleRaw):
			return exampleRaw
		case key == "publicKey" && len(value) < len(exampleP256):
			return exampleEd25519
		case key == "publicKey":
			return exampleP256
		case key == "firstMonth" || key == "lastMonth":
			if masked := maskYear(key, value); masked != value {
				return masked
			}
		case key == "standardWebhooksKey":
			return exampleWhpk
		case key == "nextCursor":
			if plain, err := base64.RawURLEncoding.DecodeString(value); err == nil {
				return base64.RawURLEncoding.EncodeToString([]byte(m.maskText(string(plain))))
			}
		}
		return m.maskText(value)
	}
	return value
}

// evidenceSize is how many leaves the log of evidence has in examples: how many facts are sealed together depends on the time.
const evidenceSize = "2"

var evidenceSizePattern = regexp.MustCompile(`(causeway\.evidence/\S+\n)\d+\n`)

// maskEvidenceSize replaces the size in a checkpoint of the log of evidence.
func maskEvidenceSize(checkpoint jsonObject) {
	for _, f := range checkpoint {
		if note, ok := f.value.(string); ok && f.name == "note" && evidenceSizePattern.MatchString(note) {
			for i := range checkpoint {
				if checkpoint[i].name == "size" {
					checkpoint[i].value = json.Number(evidenceSize)
				}
			}
		}
	}
}

// findLeak returns a text in an example that is secret or would differ in the next run.
func (m *mask) findLeak(text []byte) string {
	for _, secret := range m.secrets {
		if bytes.Contains(text, []byte(secret)) {
			return secret[:4] + "…"
		}
	}
	for word, other := range m.replacements {
		if word != other && bytes.Contains(text, []byte(word)) {
			return word
		}
	}
	for _, id := range idPattern.FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(id[2], maskedIDPrefix) {
			return id[0]
		}
	}
	for _, moment := range timestampPattern.FindAllString(string(text), -1) {
		if !strings.HasPrefix(moment, maskedDayPrefix) && !strings.HasPrefix(moment, maskedNextDayPrefix) &&
			!strings.HasPrefix(moment, maskedWeekPrefix) && !strings.HasPrefix(moment, maskedSessionPrefix) {
			return moment
		}
	}
	if index := bytes.Index(text, []byte("127.0.0.1")); index >= 0 {
		return "127.0.0.1"
	}
	return ""
}
