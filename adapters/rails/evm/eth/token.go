package eth

import (
	"bytes"
	"errors"
	"math/big"
	"slices"

	"causeway/core/ethereum"
)

// wordLength is the size of an argument of a call, and of a value that a call returns.
const wordLength = 32

// TransferTopic is the first topic of the event Transfer(address,address,uint256) of a token.
var TransferTopic = Keccak256([]byte("Transfer(address,address,uint256)"))

// UsedTopic and CanceledTopic are the first topics of the events with which a token says that the nonce of an authorisation is used
// (EIP-3009). Its address and the nonce are the others.
var (
	UsedTopic     = Keccak256([]byte("AuthorizationUsed(address,bytes32)"))
	CanceledTopic = Keccak256([]byte("AuthorizationCanceled(address,bytes32)"))
)

var (
	balanceOfSelector = selector("balanceOf(address)")
	decimalsSelector  = selector("decimals()")
	nameSelector      = selector("name()")
	versionSelector   = selector("version()")
	separatorSelector = selector("DOMAIN_SEPARATOR()")
	receiveSelector   = selector("receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)")
	stateSelector     = selector("authorizationState(address,bytes32)")
	noncesSelector    = selector("nonces(address)")
	permitSelector    = selector("permit(address,address,uint256,uint256,uint8,bytes32,bytes32)")
	allowanceSelector = selector("allowance(address,address)")
	fromSelector      = selector("transferFrom(address,address,uint256)")
)

func selector(signature string) []byte {
	hash := Keccak256([]byte(signature))
	return hash[:4]
}

// TransferCall returns the data of a call that transfers an amount of a token.
func TransferCall(to Address, amount *big.Int) []byte {
	return ethereum.TransferCall(to, amount)
}

// BalanceOfCall returns the data of a call that asks for the amount of a token at an address.
func BalanceOfCall(owner Address) []byte {
	return call(balanceOfSelector, owner[:])
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
	before := new(big.Int).SetUint64(a.ValidBefore)
	return call(receiveSelector, a.From[:], a.To[:], a.Value.Bytes(), nil, before.Bytes(), a.Nonce[:], []byte{v}, r[:], s[:])
}

// IsReceiveCall reports whether the data of a call are those of ReceiveCall.
func IsReceiveCall(data []byte) bool { return bytes.HasPrefix(data, receiveSelector) }

// PayerOf returns the address that pays in a call of ReceiveCall, PermitCall or TransferFromCall.
func PayerOf(data []byte) (payer Address, ok bool) {
	called := func(selector []byte) bool { return bytes.HasPrefix(data, selector) }
	if len(data) < len(receiveSelector)+wordLength || !slices.ContainsFunc([][]byte{receiveSelector, permitSelector, fromSelector}, called) {
		return payer, false
	}
	return addressOfWord(Hash(data[len(receiveSelector):][:wordLength]))
}

// NoncesCall returns the data of a call that asks how many permits of an owner were taken.
func NoncesCall(owner Address) []byte { return call(noncesSelector, owner[:]) }

// PermitCall returns the data of a call with a permit (EIP-2612) and its signature.
func PermitCall(p ethereum.Permit, v byte, r, s [32]byte) []byte {
	return call(permitSelector, p.Owner[:], p.Spender[:], p.Value.Bytes(), new(big.Int).SetUint64(p.Deadline).Bytes(), []byte{v}, r[:], s[:])
}

// AllowanceCall returns the data of a call that asks how much of the tokens of an owner a spender can transfer.
func AllowanceCall(owner, spender Address) []byte {
	return call(allowanceSelector, owner[:], spender[:])
}

// TransferFromCall returns the data of a call that transfers an amount that its sender has an allowance for.
func TransferFromCall(from, to Address, amount *big.Int) []byte {
	return call(fromSelector, from[:], to[:], amount.Bytes())
}

// call returns the data of a call with its arguments.
func call(selector []byte, arguments ...[]byte) []byte {
	data := append([]byte(nil), selector...)
	for _, word := range arguments {
		data = appendWord(data, word)
	}
	return data
}

// StateCall returns the data of a call that asks whether an authorisation was used.
func StateCall(from Address, nonce Hash) []byte {
	return call(stateSelector, from[:], nonce[:])
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

// AddressTopic returns the topic of an event that stands for an address.
func AddressTopic(a Address) string { return FormatHash(Hash(appendWord(nil, a[:]))) }

// IsUse reports whether the topics of an event are those of the use of a nonce, and whether that was a transfer.
func IsUse(topics []Hash, from Address, nonce Hash) (use, transfer bool) {
	if len(topics) != 3 || topics[1] != Hash(appendWord(nil, from[:])) || topics[2] != nonce {
		return false, false
	}
	return topics[0] == UsedTopic || topics[0] == CanceledTopic, topics[0] == UsedTopic
}

// addressOfWord returns the address in the last bytes of a word whose other bytes are zero.
func addressOfWord(word Hash) (Address, bool) {
	padding := [HashLength - AddressLength]byte{}
	if [HashLength - AddressLength]byte(word[:len(padding)]) != padding {
		return Address{}, false
	}
	return Address(word[len(padding):]), true
}
