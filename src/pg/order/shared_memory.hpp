// Attaching to comb's shared memory.
#pragma once

namespace comb::pg {

// Attaches to the shared memory of comb, or makes it on first use. If shared memory is full, warns, makes the same in
// memory of this process alone, and returns false.
bool try_attach();

// Whether try_attach() has returned true.
bool is_shared();

// Attaches, or raises the error that a function needs shared memory.
void require_shared_memory(const char* function);

// How shared memory was obtained, for comb_status(), which has tried to attach to it.
const char* shared_memory_state();

// In a server that preloads the library, reserves the shared memory. For _PG_init.
void init_shared_memory();

}  // namespace comb::pg
