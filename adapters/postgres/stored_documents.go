package postgres

import (
	"encoding/json"

	"causeway/adapters/postgres/schema"
	"causeway/core/account"
)

// A stored document is a type with JSON tags of its own, and two functions between it and the value of the domain, which is never
// marshalled itself: otherwise the name of its field in Go would be what is stored. Every version that was ever written
// is read: TestStoredDocuments_EachVersionIsRead has a text of each in testdata/documents.

// mapped converts the items of a list. Nil stays nil.
func mapped[From, To any](items []From, convert func(From) To) []To {
	if items == nil {
		return nil
	}
	list := make([]To, len(items))
	for i, item := range items {
		list[i] = convert(item)
	}
	return list
}

// jsonList is a list in a column of type jsonb that is never NULL: an empty list is [], and is read as nil.
func jsonList[Column, Item any](items *[]Item, encode func(Item) Column, decode func(Column) Item) any {
	return schema.JSON(
		func() []Column { return mapped(append([]Item{}, *items...), encode) },
		func(stored []Column) {
			if *items = nil; len(stored) > 0 {
				*items = mapped(stored, decode)
			}
		})
}

// instructionColumn is one instruction in the column instructions of internal_accounts and of quotes. The text of a quote is a
// fact of the log of evidence, so it must not change.
type instructionColumn struct {
	Notes           string         `json:"Notes"`
	PlatformAccount bool           `json:"PlatformAccount"`
	Info            map[string]any `json:"Info"`
}

func encodeInstructions(instructions []account.Instruction) ([]byte, error) {
	return json.Marshal(mapped(instructions, func(i account.Instruction) instructionColumn { return instructionColumn(i) }))
}

// decodeInstructions returns nil for the empty text.
func decodeInstructions(text []byte) ([]account.Instruction, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var columns []instructionColumn
	err := json.Unmarshal(text, &columns)
	return mapped(columns, func(c instructionColumn) account.Instruction { return account.Instruction(c) }), err
}
