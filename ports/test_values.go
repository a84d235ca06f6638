package ports

// TestValue is a value that selects an outcome on sandbox platforms: where it is given, and what happens then.
type TestValue struct{ Where, Value, Then string }
