package devnet

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/adapters/rails/bitcoin/btc"
)

// rawTx is a transaction that the test wallet builds and signs. Each input spends a P2WPKH output.
type rawTx struct {
	inputs  []rawInput
	outputs []btc.Output
}

type rawInput struct {
	txid     string
	vout     uint32
	sequence uint32
	witness  [][]byte
}

func little[T uint32 | int64](n T) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, n)
	return b.Bytes()
}

func size(n int) []byte {
	if n < 0xfd {
		return []byte{byte(n)}
	}
	return []byte{0xfd, byte(n), byte(n >> 8)}
}

func (i rawInput) outpoint() []byte {
	hash, err := hex.DecodeString(i.txid)
	if err != nil {
		panic(err)
	}
	slices.Reverse(hash)
	return append(hash, little(i.vout)...)
}

func outputBytes(o btc.Output) []byte {
	return slices.Concat(little(o.Satoshis), size(len(o.Script)), o.Script)
}

func (t rawTx) serialise(witness bool) []byte {
	out := little(uint32(2))
	if witness {
		out = append(out, 0, 1)
	}
	out = append(out, size(len(t.inputs))...)
	for _, i := range t.inputs {
		out = slices.Concat(out, i.outpoint(), []byte{0}, little(i.sequence))
	}
	out = append(out, size(len(t.outputs))...)
	for _, o := range t.outputs {
		out = append(out, outputBytes(o)...)
	}
	if witness {
		for _, i := range t.inputs {
			out = append(out, size(len(i.witness))...)
			for _, item := range i.witness {
				out = slices.Concat(out, size(len(item)), item)
			}
		}
	}
	return append(out, 0, 0, 0, 0)
}

// parseUnsigned reads a transaction without witnesses, which may have no inputs.
func parseUnsigned(raw []byte) (t rawTx) {
	at := 4
	take := func(n int) []byte { at += n; return raw[at-n : at] }
	count := func() int {
		if first := take(1)[0]; first < 0xfd {
			return int(first)
		}
		return int(binary.LittleEndian.Uint16(take(2)))
	}
	for range count() {
		hash := slices.Clone(take(32))
		slices.Reverse(hash)
		i := rawInput{txid: hex.EncodeToString(hash), vout: binary.LittleEndian.Uint32(take(4))}
		take(count())
		i.sequence = binary.LittleEndian.Uint32(take(4))
		t.inputs = append(t.inputs, i)
	}
	for range count() {
		o := btc.Output{Satoshis: int64(binary.LittleEndian.Uint64(take(8)))}
		o.Script = slices.Clone(take(count()))
		t.outputs = append(t.outputs, o)
	}
	return t
}

func Double(data []byte) []byte {
	once := sha256.Sum256(data)
	twice := sha256.Sum256(once[:])
	return twice[:]
}

// sign signs an input with the key of its coin (BIP 143).
func (t *rawTx) sign(index int, coin btc.Output, key *secp256k1.PrivateKey) {
	var prevouts, sequences, outputs []byte
	for _, i := range t.inputs {
		prevouts, sequences = append(prevouts, i.outpoint()...), append(sequences, little(i.sequence)...)
	}
	for _, o := range t.outputs {
		outputs = append(outputs, outputBytes(o)...)
	}
	code := slices.Concat([]byte{0x19, 0x76, 0xa9, 0x14}, coin.Script[2:], []byte{0x88, 0xac})
	image := slices.Concat(little(uint32(2)), Double(prevouts), Double(sequences), t.inputs[index].outpoint(), code, little(coin.Satoshis),
		little(t.inputs[index].sequence), Double(outputs), []byte{0, 0, 0, 0}, little(uint32(1)))
	signature := ecdsa.Sign(key, Double(image)).Serialize()
	t.inputs[index].witness = [][]byte{append(signature, 1), key.PubKey().SerializeCompressed()}
}

// outputsOf returns the outputs of a transaction in hexadecimal digits.
func OutputsOf(text string) []btc.Output {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	t, err := btc.ParseTransaction(raw)
	if err != nil {
		return nil
	}
	return t.Outputs
}
