package eth

import (
	"bytes"
	"errors"
	"math/big"

	"causeway/core/ethereum"
)

// wordLength is the size of an argument of a call, and of a value that a call returns.
const wordLength = 32

// TransferTopic is the first topic of the event Transfer(address,address,uint256) of a token.
var TransferTopic = Keccak256([]byte("Transfer(address,address,uint256)"))

var (
	transferSelector  = selector("transfer(address,uint256)")
	balanceOfSelector = selector("balanceOf(address)")
	decimalsSelector  = selector("decimals()")
	nameSelector      = selector("name()")
	versionSelector   = selector("version()")
	separatorSelector = selector("DOMAIN_SEPARATOR()")
	receiveSelector   = selector("receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)")
	stateSelector     = selector("authorizationState(address,bytes32)")
)

func selector(signature string) []byte {
	hash := Keccak256([]byte(signature))
	return hash[:4]
}

// TransferCall returns the data of a call that transfers an amount of a token.
func TransferCall(to Address, amount *big.Int) []byte {
	return appendWord(appendWord(append([]byte(nil), transferSelector...), to[:]), amount.Bytes())
}

// BalanceOfCall returns the data of a call that asks for the amount of a token at an address.
func BalanceOfCall(owner Address) []byte {
	return appendWord(append([]byte(nil), balanceOfSelector...), owner[:])
}

// DecimalsCall returns the data of a call that asks for the number of decimals of a token.
func DecimalsCall() []byte { return append([]byte(nil), decimalsSelector...) }

// NameCall, VersionCall and SeparatorCall return the data of calls that ask for the domain of a token (EIP-712).
func NameCall() []byte      { return append([]byte(nil), nameSelector...) }
func VersionCall() []byte   { return append([]byte(nil), versionSelector...) }
func SeparatorCall() []byte { return append([]byte(nil), separatorSelector...) }

// ReceiveCall returns the data of a call that transfers what an authorisation says (EIP-3009), with its signature. Its sender must be
// the recipient.
func ReceiveCall(a ethereum.Authorization, v byte, r, s [32]byte) []byte {
	call := append([]byte(nil), receiveSelector...)
	before := new(big.Int).SetUint64(a.ValidBefore)
	for _, word := range [][]byte{a.From[:], a.To[:], a.Value.Bytes(), nil, before.Bytes(), a.Nonce[:], {v}, r[:], s[:]} {
		call = appendWord(call, word)
	}
	return call
}

// PayerOf returns the address that pays in a call of ReceiveCall.
func PayerOf(call []byte) (payer Address, ok bool) {
	if len(call) < len(receiveSelector)+wordLength || !bytes.Equal(call[:len(receiveSelector)], receiveSelector) {
		return payer, false
	}
	return addressOfWord(Hash(call[len(receiveSelector):][:wordLength]))
}

// StateCall returns the data of a call that asks whether an authorisation was used.
func StateCall(from Address, nonce Hash) []byte {
	return appendWord(appendWord(append([]byte(nil), stateSelector...), from[:]), nonce[:])
}

// maxText is the longest text of a contract that is read.
const maxText = 256

// Text returns the text that a call returned.
func Text(data []byte) (string, error) {
	if len(data) >= 2*wordLength {
		offset, length := new(big.Int).SetBytes(data[:wordLength]), new(big.Int).SetBytes(data[wordLength:2*wordLength])
		if offset.Cmp(big.NewInt(wordLength)) == 0 && length.Cmp(big.NewInt(min(maxText, int64(len(data)-2*wordLength)))) <= 0 {
			return string(data[2*wordLength:][:length.Int64()]), nil
		}
	}
	return "", errors.New("the contract did not return a text")
}

func appendWord(b, value []byte) []byte {
	return append(append(b, make([]byte, wordLength-len(value))...), value...)
}

// Uint returns the number that a call returned: one word.
func Uint(data []byte) (*big.Int, error) {
	if len(data) != wordLength {
		return nil, errors.New("the contract did not return a number; it is no token")
	}
	return new(big.Int).SetBytes(data), nil
}

// Transfer is an event of a token.
type Transfer struct {
	From, To Address
	Amount   *big.Int // of 256 bits, in the smallest unit of the token
}

// DecodeTransfer returns the transfer of an event, or false for an event that is none, such as one of a contract with
// another number of topics.
func DecodeTransfer(topics []Hash, data []byte) (t Transfer, ok bool) {
	if len(topics) != 3 || topics[0] != TransferTopic || len(data) != wordLength {
		return t, false
	}
	if t.From, ok = addressOfWord(topics[1]); !ok {
		return t, false
	}
	if t.To, ok = addressOfWord(topics[2]); !ok {
		return t, false
	}
	t.Amount = new(big.Int).SetBytes(data)
	return t, true
}

// addressOfWord returns the address in the last bytes of a word whose other bytes are zero.
func addressOfWord(word Hash) (Address, bool) {
	padding := [HashLength - AddressLength]byte{}
	if [HashLength - AddressLength]byte(word[:len(padding)]) != padding {
		return Address{}, false
	}
	return Address(word[len(padding):]), true
}
