// Package lightning reads the invoices of the Lightning network (BOLT 11).
package lightning

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// Network is the Bitcoin network of a payment, by the letters that an invoice begins with after ln.
type Network string

// The networks.
const (
	Main    Network = "bc"
	Test    Network = "tb"
	Signet  Network = "tbs"
	Regtest Network = "bcrt"
	Simnet  Network = "sb"
)

// MaxInvoice is how many bytes of an invoice are read.
const MaxInvoice = 4096

// defaultExpiry is that of an invoice that names none.
const defaultExpiry = time.Hour

// maxExpiry bounds how long an invoice is good for: a hundred years.
const maxExpiry = 100 * 365 * 24 * 3600

// Invoice is what an invoice asks for. Its signature was checked.
type Invoice struct {
	Network Network
	// MilliSatoshis is the amount, of which a satoshi has a thousand; zero for any amount.
	MilliSatoshis int64
	PaymentHash   [32]byte
	// Payee is the compressed public key of the node that is paid.
	Payee [33]byte
	// Description or DescriptionHash, its SHA-256, says what is paid for.
	Description     string
	DescriptionHash *[32]byte
	At, ExpiresAt   time.Time
}

var prefixPattern = regexp.MustCompile(`^ln(bcrt|bc|tbs|tb|sb)(?:([1-9][0-9]{0,17})([munp]?))?$`)

const (
	timestampGroups = 7 // of five bits
	signatureGroups = 104
)

// ParseInvoice reads an invoice. The error says what is wrong with it, such as "has a wrong letter".
func ParseInvoice(text string) (Invoice, error) {
	if len(text) > MaxInvoice {
		return Invoice{}, fmt.Errorf("is longer than %d letters", MaxInvoice)
	}
	prefix, groups, version, err := bech32.DecodeNoLimitWithVersion(text)
	var wrongChecksum bech32.ErrInvalidChecksum
	switch {
	case errors.Is(err, bech32.ErrMixedCase{}):
		return Invoice{}, errors.New("mixes upper and lower case letters")
	case errors.As(err, &wrongChecksum), err == nil && version != bech32.Version0:
		return Invoice{}, errors.New("has a wrong letter")
	case err != nil:
		return Invoice{}, errors.New("is no Lightning invoice")
	case len(groups) < timestampGroups+signatureGroups:
		return Invoice{}, errors.New("is too short for a Lightning invoice")
	}
	var i Invoice
	if err := i.readPrefix(prefix); err != nil {
		return Invoice{}, err
	}
	content, signature := groups[:len(groups)-signatureGroups], groups[len(groups)-signatureGroups:]
	i.At = time.Unix(number(content[:timestampGroups]), 0).UTC()
	fields, err := readFields(content[timestampGroups:])
	if err != nil {
		return Invoice{}, err
	}
	if err := i.readFields(fields); err != nil {
		return Invoice{}, err
	}
	return i, i.checkSignature(prefix, content, signature, fields['n'])
}

// milliSatoshis is how many thousandths of a satoshi a unit of an amount has; a tenth for p.
var milliSatoshis = map[string]int64{"": 100_000_000_000, "m": 100_000_000, "u": 100_000, "n": 100}

// maxMilliSatoshis is all bitcoin that there will ever be.
const maxMilliSatoshis = 21_000_000 * 100_000_000 * 1000

func (i *Invoice) readPrefix(prefix string) error {
	parts := prefixPattern.FindStringSubmatch(prefix)
	if parts == nil {
		return errors.New("is no Lightning invoice of a known network and amount")
	}
	i.Network = Network(parts[1])
	if parts[2] == "" {
		return nil
	}
	count, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return err
	}
	unit := milliSatoshis[parts[3]]
	if parts[3] == "p" {
		if count%10 != 0 {
			return errors.New("is for a part of a thousandth of a satoshi")
		}
		count, unit = count/10, 1
	}
	if count > maxMilliSatoshis/unit {
		return errors.New("is for more bitcoin than there are")
	}
	i.MilliSatoshis = count * unit
	return nil
}

const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// readFields returns the known fields of an invoice, as groups of five bits, by their letter.
func readFields(groups []byte) (map[byte][]byte, error) {
	fields := map[byte][]byte{}
	for len(groups) > 0 {
		if len(groups) < 3 {
			return nil, errors.New("ends within a field")
		}
		letter, length := letters[groups[0]], int(groups[1])<<5|int(groups[2])
		if groups = groups[3:]; len(groups) < length {
			return nil, errors.New("ends within a field")
		}
		if strings.IndexByte("pshndx9", letter) >= 0 {
			if _, twice := fields[letter]; twice {
				return nil, fmt.Errorf("has two fields %c", letter)
			}
			fields[letter] = groups[:length]
		}
		groups = groups[length:]
	}
	return fields, nil
}

func (i *Invoice) readFields(fields map[byte][]byte) error {
	hash, err := hashOf(fields, 'p')
	if err != nil {
		return err
	}
	i.PaymentHash = hash
	if _, err := hashOf(fields, 's'); err != nil {
		return err
	}
	if _, named := fields['h']; named {
		hash, err := hashOf(fields, 'h')
		if err != nil {
			return err
		}
		i.DescriptionHash = &hash
	}
	if text, err := bech32.ConvertBits(fields['d'], 5, 8, false); err == nil && utf8.Valid(text) {
		i.Description = string(text)
	}
	expiry := int64(defaultExpiry / time.Second)
	if groups, named := fields['x']; named {
		if expiry = number(groups); len(groups) > 12 || expiry > maxExpiry {
			expiry = maxExpiry
		}
	}
	i.ExpiresAt = i.At.Add(time.Duration(expiry) * time.Second)
	return checkFeatures(fields['9'])
}

// hashOf returns a field of 256 bits.
func hashOf(fields map[byte][]byte, letter byte) (hash [32]byte, err error) {
	groups, named := fields[letter]
	if !named {
		return hash, fmt.Errorf("has no field %c", letter)
	}
	bytes, err := bech32.ConvertBits(groups, 5, 8, false)
	if err != nil || len(bytes) != len(hash) {
		return hash, fmt.Errorf("has a field %c of a wrong length", letter)
	}
	return [32]byte(bytes), nil
}

// number returns the number that groups of five bits are, the first one the highest.
func number(groups []byte) (n int64) {
	for _, group := range groups[:min(len(groups), 12)] {
		n = n<<5 | int64(group)
	}
	return n
}

// knownFeatures are those of BOLT 9 that a payer may be asked for: payloads of any length, payment secrets, payments in parts,
// blinded routes, metadata.
var knownFeatures = map[int]bool{8: true, 14: true, 16: true, 24: true, 48: true}

// checkFeatures refuses an invoice that needs what no payer here knows: an even bit is needed.
func checkFeatures(groups []byte) error {
	for n, group := range groups {
		first := 5 * (len(groups) - 1 - n)
		for bit := range 5 {
			if group>>bit&1 == 1 && (first+bit)%2 == 0 && !knownFeatures[first+bit] {
				return fmt.Errorf("needs the feature %d, which is not known", first+bit)
			}
		}
	}
	return nil
}

// checkSignature sets the payee: the one that the invoice names and that has signed it, or the one whose key the signature shows.
func (i *Invoice) checkSignature(prefix string, content, signature, payee []byte) error {
	signed, err := bech32.ConvertBits(content, 5, 8, true)
	if err != nil {
		return errors.New("is no Lightning invoice")
	}
	hash := sha256.Sum256(append([]byte(prefix), signed...))
	bytes, err := bech32.ConvertBits(signature, 5, 8, false)
	if err != nil || len(bytes) != 65 || bytes[64] > 3 {
		return errors.New("has no signature")
	}
	if payee != nil {
		return i.checkPayee(payee, hash, bytes)
	}
	const compressed = 27 + 4
	key, _, err := ecdsa.RecoverCompact(append([]byte{compressed + bytes[64]}, bytes[:64]...), hash[:])
	if err != nil {
		return errors.New("has a wrong signature")
	}
	i.Payee = [33]byte(key.SerializeCompressed())
	return nil
}

func (i *Invoice) checkPayee(payee []byte, hash [32]byte, signature []byte) error {
	bytes, err := bech32.ConvertBits(payee, 5, 8, false)
	if err != nil || len(bytes) != len(i.Payee) {
		return errors.New("has a field n of a wrong length")
	}
	key, err := secp256k1.ParsePubKey(bytes)
	if err != nil {
		return errors.New("names no payee")
	}
	var r, s secp256k1.ModNScalar
	if r.SetByteSlice(signature[:32]) || s.SetByteSlice(signature[32:64]) || s.IsOverHalfOrder() ||
		!ecdsa.NewSignature(&r, &s).Verify(hash[:], key) {
		return errors.New("has a wrong signature")
	}
	i.Payee = [33]byte(bytes)
	return nil
}
