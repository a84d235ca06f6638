package ports

import (
	"causeway/core/corridor"
	"causeway/core/ident"
)

// RailReceiptKey is what money that was received is unique by.
type RailReceiptKey struct {
	Platform  ident.Platform
	Rail      corridor.Rail
	PartnerID string
}
