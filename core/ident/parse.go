package ident

// Parse reads the written form of an identifier of the receiver's kind; the
// receiver's own value does not matter. It lets generic code read identifiers.
func (ID[K]) Parse(s string) (ID[K], error) { return Parse[K](s) }

// Prefix is the type as it is written before the colon, such as "Customer".
func (ID[K]) Prefix() string {
	var kind K
	return kind.prefix()
}
